package fitserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Serve answers the requests of r, one after the other, on w. It returns nil when r ends, even while
// a request is being answered: the process should end then, because nobody waits for the answer. It
// returns an error if a request cannot be read or its answer cannot be written.
func Serve(r io.Reader, w io.Writer) error {
	requests, ended := make(chan *request), make(chan error, 2)
	go func() {
		defer close(requests)
		in := bufio.NewReaderSize(r, 1<<16)
		for {
			q, err := readRequest(in)
			if err != nil {
				ended <- err
				return
			}
			requests <- q
		}
	}()
	go func() {
		for q := range requests {
			if err := reply(q, w); err != nil {
				ended <- err
				return
			}
		}
	}()
	if err := <-ended; !errors.Is(err, io.EOF) {
		return fmt.Errorf("fitserver: %w", err)
	}
	return nil
}

// reply answers one request.
func reply(q *request, w io.Writer) error {
	before := runtime.GOMAXPROCS(min(q.Threads, runtime.NumCPU())) // 0 leaves the number of cores as it is
	defer runtime.GOMAXPROCS(before)
	a, err := q.answer()
	if err != nil {
		a = answer{Error: err.Error(), Cause: cause(err), Arrays: []array{}}
	}
	// One write for a small answer, so that the parent wakes once.
	out := bufio.NewWriterSize(w, 1<<16)
	if err := writeFrame(out, a, a.Arrays); err != nil {
		return err
	}
	return out.Flush()
}

// cause returns the field Cause of the answer to a request that failed with err.
func cause(err error) string {
	if _, ok := errors.AsType[*linalg.PivotError](err); ok {
		return "not-positive-definite"
	}
	if errors.Is(err, svm.ErrNotFinite) {
		return "not-finite"
	}
	return ""
}

// answer does what a request asks for.
func (q *request) answer() (answer, error) {
	switch q.Op {
	case "interface":
		return answer{Interface: Interface, Arrays: []array{}}, nil
	case "fit":
		return q.fit()
	case "calibrate":
		return q.calibrate()
	case "decide":
		return q.decide()
	case "couple":
		return q.couple()
	}
	return answer{}, fmt.Errorf("there is no operation %q", q.Op)
}

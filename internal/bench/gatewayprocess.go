package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

const (
	// gatewayHold is how long the gateway delays the answers to the last packages. These are too
	// few for a record.
	gatewayHold = time.Second
	// gatewayTime is the longest run of the gateway's process.
	gatewayTime = 30 * time.Minute
)

// gatewayLeast returns the smallest number of packages that the gateway puts into one record. For
// many packages, the number is the program's default.
func gatewayLeast(packages int) int { return max(1, min(256, packages/64)) }

// measured returns a run that starts a gateway, posts letters and ends the gateway. It stores the
// smallest processor time of all runs, user and system, in *cost, in seconds. Without letters, this
// is the cost of start and end.
func (g *postedGateway) measured(cost *float64, letters []letter) run {
	*cost = math.Inf(1)
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, gatewayTime)
		defer cancel()
		if err := g.forget(); err != nil {
			return err
		}
		p, err := g.start(ctx, gatewayLeast(len(letters)))
		if err != nil {
			return err
		}
		err = p.ready(ctx)
		if err == nil {
			err = p.post(ctx, letters, gatewayLeast(len(letters)))
		}
		used, failed := p.end()
		if err := errors.Join(err, failed); err != nil {
			return fmt.Errorf("%w; the last line of the gateway's log: %s", err, p.last)
		}
		*cost = min(*cost, used)
		return nil
	}
}

// forget removes the records of an earlier gateway, so that all packages can be counted again.
// The window and its key stay.
func (g *postedGateway) forget() error {
	files, err := filepath.Glob(filepath.Join(g.path("home"), "packages-*"))
	for _, f := range files {
		if gone := os.Remove(f); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// gatewayProcess holds a running gateway process.
type gatewayProcess struct {
	cmd     *exec.Cmd
	input   io.Closer // the gateway's standard input; the gateway stops when this process closes the input or dies
	address string
	reading sync.WaitGroup // waits for the goroutine that reads the log
	last    string         // last line of the log; readable after the gateway's end
}

// start starts a gateway process and waits until it listens on a port.
func (g *postedGateway) start(ctx context.Context, least int) (*gatewayProcess, error) {
	arguments := append(g.program[1:len(g.program):len(g.program)], "gateway", "--home", g.path("home"), "--job", g.path("job.yaml"), "--listen", "127.0.0.1:0",
		"--window", gatewayWindow.String(), "--grace", "0s", "--lead", "0s", "--hold", gatewayHold.String(), "--least", strconv.Itoa(least), "--log-format", "text")
	p := &gatewayProcess{cmd: exec.CommandContext(ctx, g.program[0], append(arguments, g.issuing...)...)}
	p.cmd.Env = append(os.Environ(), demo.StopWithStdin+"=yes")
	log, err := p.cmd.StderrPipe()
	if err == nil {
		p.input, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("bench: the gateway cannot be started: %w", err)
	}
	lines := bufio.NewScanner(log)
	if p.address = p.listening(lines); p.address == "" {
		_, err := p.end()
		return nil, errors.Join(fmt.Errorf("bench: the gateway stopped before it listened on a port; the last line of the gateway's log: %s", p.last), err)
	}
	p.reading.Go(func() { p.listening(lines) })
	return p, nil
}

var readyLine = regexp.MustCompile(`msg=ready .*address=(\S+)`)

// listening reads the log until a line names the gateway's address, and returns the address. It
// returns "" at the end of the log.
func (p *gatewayProcess) listening(log *bufio.Scanner) (url string) {
	for log.Scan() {
		p.last = log.Text()
		if m := readyLine.FindStringSubmatch(p.last); m != nil {
			return "http://" + m[1]
		}
	}
	return ""
}

// ready waits until the gateway announces its first window.
func (p *gatewayProcess) ready(ctx context.Context) error {
	for {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address+secvm.AnnouncementPath, nil)
		if err != nil {
			return err
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			return err
		}
		if err := r.Body.Close(); err != nil || r.StatusCode == http.StatusOK {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// end ends the process and returns the processor seconds that it has used. A nonzero exit status
// is not an error here.
func (p *gatewayProcess) end() (float64, error) {
	if err := p.input.Close(); err != nil {
		return 0, fmt.Errorf("bench: %w", err)
	}
	p.reading.Wait()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, fmt.Errorf("bench: %w", err)
	}
	s := p.cmd.ProcessState
	return (s.UserTime() + s.SystemTime()).Seconds(), nil
}

// post posts all letters over several connections at once. It uses twice as many connections as a
// record has packages. It returns when all letters are acknowledged, except the last ones. The
// gateway has checked the last letters and counted them in memory, but acknowledges letters only
// when there are enough for a record.
func (p *gatewayProcess) post(ctx context.Context, letters []letter, least int) error {
	lanes := min(2*least, len(letters))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: lanes, DisableCompression: true}}
	defer client.CloseIdleConnections()
	m := &mailing{client: client, address: p.address, letters: letters, least: least}
	m.left.Store(int64(len(letters)))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var posting sync.WaitGroup
	for range lanes {
		posting.Go(func() {
			if err := m.post(ctx); err != nil {
				cancel(err)
			}
		})
	}
	posting.Wait()
	return context.Cause(ctx)
}

// mailing holds the shared state of the goroutines that post letters.
type mailing struct {
	client  *http.Client
	address string
	letters []letter
	least   int
	next    atomic.Int64
	left    atomic.Int64 // number of letters without an acknowledgement
}

// post delivers one letter after another until no letter is left.
func (m *mailing) post(ctx context.Context) error {
	for {
		i := int(m.next.Add(1)) - 1
		if i >= len(m.letters) {
			return nil
		}
		if err := m.deliver(ctx, m.letters[i]); err != nil {
			return fmt.Errorf("bench: package %d: %w", i, err)
		}
	}
}

// deliver posts a letter again and again until the gateway acknowledges it. It returns without an
// acknowledgement when the remaining letters are too few for a record.
func (m *mailing) deliver(ctx context.Context, l letter) error {
	for {
		status, err := l.post(ctx, m.client, m.address)
		switch {
		case err != nil:
			return err
		case status == http.StatusOK, status == http.StatusAlreadyReported:
			m.left.Add(-1)
			return nil
		case status != http.StatusAccepted:
			return fmt.Errorf("the gateway refused the package with status %d", status)
		case m.left.Load() < int64(m.least):
			return nil
		}
	}
}

// post posts a letter and returns the status in the sealed answer.
func (l letter) post(ctx context.Context, client *http.Client, address string) (int, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(l.sealed))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Type", ohttp.RequestType)
	r, err := client.Do(q)
	if err != nil {
		return 0, err
	}
	sealed, err := io.ReadAll(r.Body)
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return 0, err
	}
	if r.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the gateway answered the sealed request with status %s: %s", r.Status, sealed)
	}
	answer, err := l.answer.Open(sealed)
	if err != nil {
		return 0, err
	}
	inner, err := bhttp.ParseResponse(answer)
	if err != nil {
		return 0, err
	}
	return inner.Status, nil
}

package fdskl

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// labelBroadcast holds the label counts and classes that the active workers send only to each
// other, in a job with spread labels.
type labelBroadcast struct {
	counts  []int    // the number of labelled training rows at each active worker
	classes []string // the classes of all labels, in the job's order of classes or, without such an order, in the order of package dataset
}

// weight returns the weight of each label at the active worker with the given index. All workers
// make the same number of iterations. The weights give all labels the same influence.
func (r labelBroadcast) weight(index int) float64 {
	all := 0
	for _, n := range r.counts {
		all += n
	}
	return float64(r.counts[index]*len(r.counts)) / float64(all)
}

// labelBroadcaster builds the machine with which an active worker broadcasts its label count and
// classes.
func (p *party) labelBroadcaster(setup method.Setup) (*method.Run, error) {
	own := p.Spread()
	classes, _ := dataset.Classes(linalg.At(p.Set.Labels, slices.Concat(own.Training, own.HeldOut)))
	if len(classes) > 2 {
		return nil, markOwnLabels(fmt.Errorf("the party's labels have %d classes, but spread labels must have two; merge classes in the job or its dictionary, or let only one party be active", len(classes)))
	}
	if len(own.Training) == 0 {
		return nil, markOwnLabels(errors.New("the party has no labels of common training rows; make fewer parties active"))
	}
	return sums.AllGatherer(setup, entry{len(own.Training), classes}.encode(), func(statements [][]byte) error {
		var err error
		p.labelBroadcast, err = readLabelBroadcast(p.Job.Active(), p.Job.Data.Order, statements, len(p.Set.Labels))
		return err
	})
}

// markOwnLabels marks an error as a fault of the party's own labels. Other members learn only that
// there is such a fault.
func markOwnLabels(err error) error {
	return fault.Labels.Of(err)
}

// entry holds the facts about its labels that one active worker broadcasts.
type entry struct {
	count   int // the number of labelled training rows
	classes []string
}

// entryBytes is the fixed number of bytes of every entry. A fixed length hides how many classes a
// worker has and how long their names are.
const entryBytes = 4 + 4 + 2*(4+method.MaxLabelBytes)

func (e entry) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(e.count))
	w.Strings(e.classes)
	return append(w.Bytes(), make([]byte, entryBytes-len(w.Bytes()))...)
}

// decodeEntry decodes the entry of an active worker in a job with the given number of common rows.
func decodeEntry(b []byte, rows int) (entry, error) {
	r := wire.NewReader(b)
	e := entry{count: int(r.Uint32()), classes: r.Strings(2, method.MaxLabelBytes)}
	switch padding := r.Rest(); {
	case r.Err() != nil:
	case len(b) != entryBytes:
		r.Fail(fmt.Errorf("the entry has %d bytes; it must have %d", len(b), entryBytes))
	case !bytes.Equal(padding, make([]byte, len(padding))):
		r.Fail(errors.New("the padding of the entry is not zero"))
	case e.count < 1 || e.count > min(rows, psi.MaxIDs):
		r.Fail(fmt.Errorf("the entry counts %d labels; 1 to %d are allowed", e.count, min(rows, psi.MaxIDs)))
	case len(e.classes) == 0 || slices.Contains(e.classes, ""):
		r.Fail(fmt.Errorf("the entry names the classes %q; it must name at least one class, and none may be empty", e.classes))
	case len(e.classes) == 2 && e.classes[0] == e.classes[1]:
		r.Fail(errors.New("the entry names one class twice"))
	}
	return e, r.Close("fdskl: broadcast of labels")
}

// errClasses is the public text for labels of active workers that do not have two classes in all.
// Only the parties' own logs name the classes.
const errClasses = "the active parties' labels are not of two classes in one spelling; their own logs list the classes"

// readLabelBroadcast decodes the entries of all active workers in a job with the given number of
// common rows. order is the job's order of classes, if it has one.
func readLabelBroadcast(active, order []string, statements [][]byte, rows int) (labelBroadcast, error) {
	var r labelBroadcast
	var all []string
	_, err := sums.Statements(active, statements, func(b []byte) error {
		e, err := decodeEntry(b, rows)
		r.counts, all = append(r.counts, e.count), append(all, e.classes...)
		return err
	})
	if err != nil {
		return labelBroadcast{}, err
	}
	r.classes, _ = dataset.ClassesIn(order, all)
	if err := dataset.CheckSpelling(r.classes); err != nil || len(r.classes) != 2 {
		return labelBroadcast{}, &fault.Error{Code: fault.CodeBadInput, Public: errClasses,
			Err: fmt.Errorf("the labels of %d active parties have the classes %q, but spread labels must have two classes, which all parties spell alike; correct the tables, or let the job merge classes", len(active), r.classes)}
	}
	return r, nil
}

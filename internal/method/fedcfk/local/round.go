package local

import (
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// PurposePaper is the prefix of the purpose of every round in FedCFK's mode paper; the round's
// number follows. Each round thus has a separate claim, so a client can add its list repeatedly.
const PurposePaper = "fedcfk/paper"

// Round returns the secure sum of one round in mode paper. It counts, for all pairs of items in the
// catalogue, how many of the listed clients like both items.
func Round(c fedcfk.Devices, roster [sha256.Size]byte, number int, clients []string) (sums.Summation, error) {
	if err := c.CheckCatalogue(); err != nil {
		return sums.Summation{}, err
	}
	s := method.Session{Purpose: fmt.Sprintf("%s/%d", PurposePaper, number)}
	return sums.NewSummation(c.ID, number, roster, s, c.Coordinator, clients, c.Spec(len(clients), fedcfk.Entries(c.Items)))
}

// Estimate holds the server's estimate of the counts of pairs of items in mode paper. Each count is
// the largest of any round (section 3.1 of the paper) or the sum of all rounds. The largest of
// several sums is not a sum, so the matrix computed from it need not be a kernel.
type Estimate struct {
	items  int
	people int     // number of people in the largest round, or in all rounds together
	counts []int64 // counts of pairs i <= j, row by row
}

// NewEstimate returns the estimate for a catalogue before the first round.
func NewEstimate(items int) *Estimate {
	return &Estimate{items: items, counts: make([]int64, fedcfk.Entries(items))}
}

// Merge keeps, for each pair of items, the larger one of the stored count and the round's count.
func (e *Estimate) Merge(pairs []int64, people int) {
	e.people = max(e.people, people)
	for at, n := range pairs {
		e.counts[at] = max(e.counts[at], n)
	}
}

// Add adds the counts of a round to the estimate. People of the round took part in no other round.
func (e *Estimate) Add(pairs []int64, people int) {
	e.people += people
	for at, n := range pairs {
		e.counts[at] += n
	}
}

// matrix converts the estimate to the form of package learn/komd.
func (e *Estimate) matrix() komd.Counts {
	c := linalg.New[float64](e.items, e.items)
	at := 0
	for i := range e.items {
		for j := i; j < e.items; j++ {
			c.Row(i)[j], c.Row(j)[i] = float64(e.counts[at]), float64(e.counts[at])
			at++
		}
	}
	return komd.Counts{Users: e.people, C: c}
}

// Offer returns the values that the server releases on request until the next round.
func (e *Estimate) Offer(k job.Kernel) (*Offer, error) {
	values, err := fedcfk.SpecOf(k).Kernel(e.matrix())
	if err != nil {
		return nil, err
	}
	o := &Offer{rows: make([][]uint16, e.items)}
	for i := range o.rows {
		o.rows[i] = fedcfk.Quantised(values.Row(i))
	}
	o.Mean = komd.New(values).Mean()
	return o, nil
}

// Offer holds the kernel values that the server releases after a round in mode paper.
type Offer struct {
	Mean []float64 // mean of each item's row; every device receives it
	rows [][]uint16
}

// Rows returns the kernel rows of the requested items.
func (o *Offer) Rows(items []int) [][]uint16 {
	rows := make([][]uint16, len(items))
	for at, i := range items {
		rows[at] = o.rows[i]
	}
	return rows
}

// Error returns the mean squared difference between the kernel values of o and of truth (figure 1
// of the paper).
func (o *Offer) Error(truth *Offer) float64 {
	sum := 0.0
	for i, row := range o.rows {
		for j, v := range row {
			d := (float64(v) - float64(truth.rows[i][j])) / fedcfk.One
			sum += d * d
		}
	}
	return sum / float64(len(o.rows)*len(o.rows))
}

// ItemKernel returns all kernel values of the offer as an item kernel.
func (o *Offer) ItemKernel() *fedcfk.ItemKernel {
	k := &fedcfk.ItemKernel{Catalogue: len(o.rows)}
	for i, row := range o.rows {
		k.Kept = append(k.Kept, i)
		k.Values = append(k.Values, row[i:]...)
	}
	return k
}

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

// PurposePaper begins the purpose of every round of FedCFK's mode paper, followed by the server's
// number of the round. So a client's ledger lets it add the same list repeatedly.
const PurposePaper = "fedcfk/paper"

// Round describes a round of mode paper over the listed clients: for all pairs of the catalogue,
// how many of them like both items.
func Round(c fedcfk.Devices, roster [sha256.Size]byte, number int, clients []string) (sums.Summation, error) {
	if err := c.CheckCatalogue(); err != nil {
		return sums.Summation{}, err
	}
	s := method.Session{Purpose: fmt.Sprintf("%s/%d", PurposePaper, number)}
	return sums.NewSummation(c.ID, number, roster, s, c.Coordinator, clients, c.Spec(len(clients), fedcfk.Entries(c.Items)))
}

// Estimate holds the server's estimate from its rounds in mode paper: for every pair of items, and
// for every item, the largest count of any round (section 3.1 of the paper) or the sum of all
// rounds. The largest of several sums is not a sum, so the matrix computed from it need not be a
// kernel.
type Estimate struct {
	items  int
	people int     // most in a round, or in all rounds
	counts []int64 // pairs i <= j, row after row
}

// NewEstimate returns the estimate over a catalogue before any round.
func NewEstimate(items int) *Estimate {
	return &Estimate{items: items, counts: make([]int64, fedcfk.Entries(items))}
}

// Merge merges the sum of a round over the given number of people.
func (e *Estimate) Merge(pairs []int64, people int) {
	e.people = max(e.people, people)
	for at, n := range pairs {
		e.counts[at] = max(e.counts[at], n)
	}
}

// Add adds the sum of a round over people who were in no other.
func (e *Estimate) Add(pairs []int64, people int) {
	e.people += people
	for at, n := range pairs {
		e.counts[at] += n
	}
}

// matrix converts the estimate for package learn/komd.
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

// Offer is the estimate of mode paper after some round.
type Offer struct {
	Mean []float64 // of each item's row; everybody gets it
	rows [][]uint16
}

// Rows answers a request.
func (o *Offer) Rows(items []int) [][]uint16 {
	rows := make([][]uint16, len(items))
	for at, i := range items {
		rows[at] = o.rows[i]
	}
	return rows
}

// Error returns the mean squared difference of the kernel's values from another offer's (figure 1
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

// ItemKernel returns the whole offer in the form of a model.
func (o *Offer) ItemKernel() *fedcfk.ItemKernel {
	k := &fedcfk.ItemKernel{Catalogue: len(o.rows)}
	for i, row := range o.rows {
		k.Kept = append(k.Kept, i)
		k.Values = append(k.Values, row[i:]...)
	}
	return k
}

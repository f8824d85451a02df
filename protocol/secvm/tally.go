package secvm

import "fmt"

// Tally counts the packages of all devices in one window, or in several of one iteration. A gateway
// keeps no other data of the packages but parts of the nonces of their tokens. Tallies can be added, so
// that shards can count separately.
type Tally struct {
	Census
	Minus, Plus []uint64 // for each feature, the number of training packages with sign -1 and +1
	Covers      uint64
	params      Params
}

// NewTally returns an empty tally. It takes 16 bytes for each feature.
func NewTally(p Params) *Tally {
	return &Tally{params: p, Minus: make([]uint64, p.Features()), Plus: make([]uint64, p.Features())}
}

// Add counts a package. It ignores the tag and the iteration, because the caller assigns packages
// to windows. A refused package changes nothing.
func (t *Tally) Add(p Package) error { return t.AddTimes(p, 1) }

// AddTimes counts a package n times.
func (t *Tally) AddTimes(p Package, n uint64) error {
	if err := p.Check(t.params); err != nil {
		return err
	}
	class := 0
	if p.Value > 0 {
		class = 1
	}
	switch p.Kind {
	case Participation:
		t.Participants[class] += n
	case Training:
		[2][]uint64{t.Minus, t.Plus}[class][p.Index] += n
	case Testing:
		t.Tests[class].Total += n
		if p.Guess == p.Value {
			t.Tests[class].Correct += n
		}
	case Cover:
		t.Covers += n
	}
	return nil
}

// Merge adds the counts of another tally of the same model.
func (t *Tally) Merge(o *Tally) error {
	if len(o.Plus) != len(t.Plus) {
		return fmt.Errorf("secvm: the tally to merge has %d features; this tally has %d", len(o.Plus), len(t.Plus))
	}
	for j := range t.Plus {
		t.Minus[j] += o.Minus[j]
		t.Plus[j] += o.Plus[j]
	}
	for c := range 2 {
		t.Participants[c] += o.Participants[c]
		t.Tests[c].Total += o.Tests[c].Total
		t.Tests[c].Correct += o.Tests[c].Correct
	}
	t.Covers += o.Covers
	return nil
}

// Enough reports whether there are enough participants for a step. If not, the
// same iteration stays open for another window.
func (t *Tally) Enough() bool { return t.Count() >= t.params.spec.Cohort }

// Gradient returns the sum of the subgradients, and n, the sum of the participants' weights. A
// participant with label -1 has weight minus, and a participant with label +1 has weight plus.
// Different weights need [Spec.Classes]. The published server, which has only the weight plus, uses
// (plus+1) N / (2 plus) for n, where N is the number of participants, as if the classes were equally
// large.
func (t *Tally) Gradient(minus, plus float64) (sum []float64, n float64, err error) {
	if err := t.params.checkClassWeights(minus, plus); err != nil {
		return nil, 0, err
	}
	sum = make([]float64, len(t.Plus))
	for j := range sum {
		sum[j] = plus*float64(t.Plus[j]) - minus*float64(t.Minus[j])
	}
	return sum, t.totalWeight(minus, plus), nil
}

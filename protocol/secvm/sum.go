package secvm

import (
	"cmp"
	"fmt"
	"slices"
)

// Block describes consecutive entries of a summand that have a common bound. It corresponds to a
// group in protocol/secagg.
type Block struct {
	Entries int
	Bound   int64 // every device's entry x has |x| <= Bound
	Signed  bool  // entries may be below 0
}

// The places of entries in a summand's last block. It counts participants and test results, for
// label -1 and +1.
const (
	participantsAt = 0 // 2 entries: one for each label
	testsAt        = 2 // 2 entries for each label: tests, correct guesses
	censusEntries  = 6
)

// Blocks returns the blocks of a device's summand: the subgradient, followed by the counts of a
// [Census]. With [Spec.Classes] the subgradient has a block for each label. Otherwise it has one
// block of signed entries, which reveals less.
func (p Params) Blocks() []Block {
	features := Block{Entries: p.Features(), Bound: int64(p.Room())}
	census := Block{Entries: censusEntries, Bound: 1}
	if p.spec.Classes {
		return []Block{features, features, census}
	}
	features.Signed = true
	return []Block{features, census}
}

// Summand is one device's contribution to the sum over all devices in a window. It counts the
// packages that the device would send, in one vector for each of [Params.Blocks].
type Summand []Vector

// Summand returns the device's contribution to the sum over all devices, in a window with the given
// weights.
func (d *Device) Summand(weights Weights) (Summand, error) {
	said, err := d.AnswerAsPublished(0, weights)
	if err != nil {
		return nil, err
	}
	s := make(Summand, len(d.params.Blocks()))
	for _, one := range said {
		s.countPackage(one, d.params.spec.Classes)
	}
	return s, nil
}

// countPackage counts a package in the summand's vectors.
func (s Summand) countPackage(p Package, classes bool) {
	class, census := 0, len(s)-1
	if p.Value > 0 {
		class = 1
	}
	switch p.Kind {
	case Training:
		if classes {
			s[class] = s[class].addCount(int(p.Index), 1)
		} else {
			s[0] = s[0].addCount(int(p.Index), int(p.Value))
		}
	case Participation:
		s[census] = s[census].addCount(participantsAt+class, 1)
	case Testing:
		s[census] = s[census].addCount(testsAt+2*class, 1)
		if p.Guess == p.Value {
			s[census] = s[census].addCount(testsAt+2*class+1, 1)
		}
	}
}

// addCount adds count to the entry of bin and returns the vector.
func (v Vector) addCount(bin, count int) Vector {
	i, there := slices.BinarySearchFunc(v, bin, func(e Entry, bin int) int { return cmp.Compare(e.Bin, bin) })
	if !there {
		return slices.Insert(v, i, Entry{bin, count})
	}
	v[i].Count += count
	return v
}

// Read fills dst with the entries of a block, beginning with entry number start. It implements
// secagg.Vector.
func (s Summand) Read(block, start int, dst []int64) {
	clear(dst)
	v := s[block]
	at, _ := slices.BinarySearchFunc(v, start, func(e Entry, bin int) int { return cmp.Compare(e.Bin, bin) })
	for ; at < len(v) && v[at].Bin < start+len(dst); at++ {
		dst[v[at].Bin-start] = int64(v[at].Count)
	}
}

// Sum is the sum of all devices' summands in one window. With secure aggregation, a server receives
// nothing else. Sum replaces a [Tally] of packages, and gives the same gradient.
type Sum struct {
	Census
	Blocks [][]int64 // one slice of sums for each of [Params.Blocks]
	params Params
}

// NewSum returns the sum of the summands of the given number of devices. It returns an error if
// honest devices cannot have this sum; the server cannot know whose summand was false.
func NewSum(p Params, blocks [][]int64, devices int) (*Sum, error) {
	s := &Sum{Blocks: blocks, params: p}
	want := p.Blocks()
	if len(blocks) != len(want) {
		return nil, fmt.Errorf("secvm: the sum has %d blocks; it must have %d", len(blocks), len(want))
	}
	for i, b := range want {
		if len(blocks[i]) != b.Entries {
			return nil, fmt.Errorf("secvm: block %d of the sum has %d entries; it must have %d", i, len(blocks[i]), b.Entries)
		}
		most := b.Bound * int64(devices)
		for j, x := range blocks[i] {
			if x > most || x < -most || x < 0 && !b.Signed {
				return nil, fmt.Errorf("secvm: entry %d of block %d is %d, which is not a possible sum over %d honest devices; a device has sent a false summand", j, i, x, devices)
			}
		}
	}
	if err := s.readCensus(blocks[len(blocks)-1], devices); err != nil {
		return nil, err
	}
	return s, nil
}

// readCensus reads the census from its block, and checks that every device either trains or tests.
func (s *Sum) readCensus(block []int64, devices int) error {
	for class := range 2 {
		s.Participants[class] = uint64(block[participantsAt+class])
		s.Tests[class] = Outcome{Total: uint64(block[testsAt+2*class]), Correct: uint64(block[testsAt+2*class+1])}
		if t := s.Tests[class]; t.Correct > t.Total {
			return fmt.Errorf("secvm: the sum has %d correct guesses in %d tests; a device has sent a false summand", t.Correct, t.Total)
		}
	}
	if n := s.Count() + int(s.Tests[0].Total+s.Tests[1].Total); n != devices {
		return fmt.Errorf("secvm: %d devices train or test, but %d devices are in the sum; a device has sent a false summand", n, devices)
	}
	return nil
}

// Enough reports whether there are enough participants for a step.
func (s *Sum) Enough() bool { return s.Count() >= s.params.spec.Cohort }

// Gradient returns the same results as [Tally.Gradient] for the packages that the devices would
// send.
func (s *Sum) Gradient(minus, plus float64) (sum []float64, n float64, err error) {
	if err := s.params.checkClassWeights(minus, plus); err != nil {
		return nil, 0, err
	}
	sum = make([]float64, s.params.Features())
	for j := range sum {
		if s.params.spec.Classes {
			sum[j] = plus*float64(s.Blocks[1][j]) - minus*float64(s.Blocks[0][j])
		} else {
			sum[j] = plus * float64(s.Blocks[0][j])
		}
	}
	return sum, s.totalWeight(minus, plus), nil
}

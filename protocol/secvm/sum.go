package secvm

import (
	"cmp"
	"fmt"
	"slices"
)

// Block is a run of a summand's entries with a common bound, as in protocol/secagg.
type Block struct {
	Entries int
	Bound   int64 // every device's entry x has |x| <= Bound
	Signed  bool  // entries may be below 0
}

// The entries of a summand's last block: participants and test results, for label -1 and
// +1.
const (
	participantsAt = 0 // 2 entries
	testsAt        = 2 // 2 entries for each label: tested, guessed right
	censusEntries  = 6
)

// Blocks describes a device's summand where windows are summed: the subgradient, then the
// counts of a [Census]. With [Spec.Classes] the subgradient has a block for each label;
// else it has one block of signed entries, which reveals less.
func (p Params) Blocks() []Block {
	features := Block{Entries: p.Features(), Bound: int64(p.Room())}
	census := Block{Entries: censusEntries, Bound: 1}
	if p.spec.Classes {
		return []Block{features, features, census}
	}
	features.Signed = true
	return []Block{features, census}
}

// Summand is a device's part of a window's sum: the counts of the packages that it would
// send. It has a vector for each of [Params.Blocks].
type Summand []Vector

// Summand returns what the device adds to the sum of a window.
func (d *Device) Summand(weights Weights) (Summand, error) {
	said, err := d.AnswerAsPublished(0, weights)
	if err != nil {
		return nil, err
	}
	s := make(Summand, len(d.params.Blocks()))
	for _, one := range said {
		s.add(one, d.params.spec.Classes)
	}
	return s, nil
}

// add counts a package.
func (s Summand) add(p Package, classes bool) {
	class, census := 0, len(s)-1
	if p.Value > 0 {
		class = 1
	}
	switch p.Kind {
	case Training:
		if classes {
			s[class] = s[class].plus(int(p.Index), 1)
		} else {
			s[0] = s[0].plus(int(p.Index), int(p.Value))
		}
	case Participation:
		s[census] = s[census].plus(participantsAt+class, 1)
	case Testing:
		s[census] = s[census].plus(testsAt+2*class, 1)
		if p.Guess == p.Value {
			s[census] = s[census].plus(testsAt+2*class+1, 1)
		}
	}
}

// plus adds count to the entry of bin.
func (v Vector) plus(bin, count int) Vector {
	i, there := slices.BinarySearchFunc(v, bin, func(e Entry, bin int) int { return cmp.Compare(e.Bin, bin) })
	if !there {
		return slices.Insert(v, i, Entry{bin, count})
	}
	v[i].Count += count
	return v
}

// Read sets dst to the entries of a block, from entry first on. It implements
// secagg.Vector.
func (s Summand) Read(block, first int, dst []int64) {
	clear(dst)
	v := s[block]
	at, _ := slices.BinarySearchFunc(v, first, func(e Entry, bin int) int { return cmp.Compare(e.Bin, bin) })
	for ; at < len(v) && v[at].Bin < first+len(dst); at++ {
		dst[v[at].Bin-first] = int64(v[at].Count)
	}
}

// Sum is the only data that a server gets of a summed window. It replaces a [Tally] of
// packages, and gives the same gradient.
type Sum struct {
	Census
	Blocks [][]int64 // as [Params.Blocks]
	params Params
}

// NewSum takes over the sum of the given number of summands. A sum that honest devices
// cannot give is an error: the server cannot know whose summand was false.
func NewSum(p Params, blocks [][]int64, devices int) (*Sum, error) {
	s := &Sum{Blocks: blocks, params: p}
	want := p.Blocks()
	if len(blocks) != len(want) {
		return nil, fmt.Errorf("secvm: the sum has %d blocks, want %d", len(blocks), len(want))
	}
	for i, b := range want {
		if len(blocks[i]) != b.Entries {
			return nil, fmt.Errorf("secvm: block %d of the sum has %d entries, want %d", i, len(blocks[i]), b.Entries)
		}
		most := b.Bound * int64(devices)
		for j, x := range blocks[i] {
			if x > most || x < -most || x < 0 && !b.Signed {
				return nil, fmt.Errorf("secvm: entry %d of block %d is %d, which no %d devices add up to; a device has added something else", j, i, x, devices)
			}
		}
	}
	if err := s.count(blocks[len(blocks)-1], devices); err != nil {
		return nil, err
	}
	return s, nil
}

// count reads the census. Every device either trains or tests.
func (s *Sum) count(block []int64, devices int) error {
	for class := range 2 {
		s.Participants[class] = uint64(block[participantsAt+class])
		s.Tests[class] = Outcome{Total: uint64(block[testsAt+2*class]), Correct: uint64(block[testsAt+2*class+1])}
		if t := s.Tests[class]; t.Correct > t.Total {
			return fmt.Errorf("secvm: %d of %d tests were right; a device has added something else", t.Correct, t.Total)
		}
	}
	if n := s.Count() + int(s.Tests[0].Total+s.Tests[1].Total); n != devices {
		return fmt.Errorf("secvm: %d devices train or test, of %d in the sum; a device has added something else", n, devices)
	}
	return nil
}

// Enough reports whether there are enough participants for a step.
func (s *Sum) Enough() bool { return s.Count() >= s.params.spec.Cohort }

// Gradient returns what [Tally.Gradient] returns for the same packages.
func (s *Sum) Gradient(minus, plus float64) (sum []float64, n float64, err error) {
	if err := s.params.weighable(minus, plus); err != nil {
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
	return sum, s.weight(minus, plus), nil
}

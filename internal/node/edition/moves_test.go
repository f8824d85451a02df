package edition

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trained is who is in training in an edition: the cells of each person, and the label.
type trained map[int]struct{ cells, label int }

func (t trained) with(from, to, label int) trained {
	next := maps.Clone(t)
	if next == nil {
		next = make(trained)
	}
	for i := from; i < to; i++ {
		next[i] = struct{ cells, label int }{0, label}
	}
	return next
}

func (t trained) without(from, to int) trained {
	next := maps.Clone(t)
	for i := from; i < to; i++ {
		delete(next, i)
	}
	return next
}

func (t trained) members() (list []Member) {
	for i, p := range t {
		list = append(list, Member{element(i), 0, uint64(p.label)})
	}
	slices.SortFunc(list, compareMembers)
	return list
}

// history are the moves between editions.
func history(editions ...trained) (moves []move) {
	for n := 1; n < len(editions); n++ {
		changed := make(map[Element]bool)
		for i, now := range editions[n] {
			then, had := editions[n-1][i]
			changed[element(i)] = had && then != now
		}
		m := moved(editions[n-1].members(), editions[n].members(), 1, func(e Element) bool { return changed[e] })
		m.Number = n + 1
		moves = append(moves, m)
	}
	return moves
}

func TestFew(t *testing.T) {
	first := trained(nil).with(0, 100, 1).with(100, 200, 2)
	more := first.with(200, 230, 1)
	relabelled := more.with(200, 205, 2)
	for name, tt := range map[string]struct {
		moves            []move
		classes, numbers []int
	}{
		"the first":                    {history(first), nil, nil},
		"nobody moves":                 {history(first, first), nil, nil},
		"30 of one class come":         {history(first, more), nil, nil},
		"and 3 of the other":           {history(first, more.with(230, 233, 2)), []int{1}, []int{1}},
		"3 and later 9":                {history(first, more.with(230, 233, 2), more.with(230, 242, 2)), []int{2}, nil},
		"3 and later 17 that are one":  {history(first, more.with(230, 233, 2), more.with(230, 233, 2).with(233, 250, 2)), nil, nil},
		"30 come and go":               {history(first, more, first), []int{1}, []int{1}},
		"12 go":                        {history(first, first.without(0, 12)), nil, nil},
		"9 go":                         {history(first, first.without(0, 9)), []int{1}, nil},
		"30 come, 5 change the class":  {history(first, more, relabelled), []int{1, 2}, []int{1, 2}},
		"30 come, 25 of them go":       {history(first, more, more.without(200, 225)), []int{1}, []int{1}},
		"30 come, and 12 others":       {history(first, more, more.with(230, 242, 2)), nil, nil},
		"an earlier program made them": {[]move{{Number: 3, Unknown: true, Counts: newCounts(1)}}, []int{1, 2}, []int{1, 2}},
	} {
		got := few(tt.moves, 0)
		if d := cmp.Diff(Few{tt.classes, tt.numbers}, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		again, err := decodeMoves(encodeMoves(tt.moves))
		if err != nil || cmp.Diff(few(again, 0), got) != "" {
			t.Errorf("%s: read back: %+v, %v", name, again, err)
		}
	}
}

// apart counts, by label, who is in one of two editions alone, and with other cells in both.
func apart(a, b trained) map[int]int {
	n := make(map[int]int)
	for i, p := range a {
		if q, in := b[i]; !in || p != q {
			n[p.label]++
		}
	}
	for i, q := range b {
		if p, in := a[i]; !in || p != q && p.label != q.label {
			n[q.label]++
		}
	}
	return n
}

// Whoever comes, goes, comes back, changes and changes back: a pair of editions that is not listed has no class
// with one to nine people apart, nor one to nine with another number.
func TestNoFewAreMissed(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	listed, passed := 0, 0
	for range 400 {
		editions := []trained{trained(nil).with(0, 60, 1).with(60, 120, 2)}
		for range 4 {
			next := maps.Clone(editions[len(editions)-1])
			for range random.IntN(3) {
				from := random.IntN(150)
				to := from + 1 + random.IntN(25)
				switch random.IntN(4) {
				case 0:
					next = next.without(from, to)
				case 1:
					for i := from; i < to; i++ {
						if p, in := next[i]; in {
							p.cells = random.IntN(2)
							next[i] = p
						}
					}
				default:
					next = next.with(from, to, 1+random.IntN(3))
				}
			}
			editions = append(editions, next)
		}
		last := editions[len(editions)-1]
		f := few(history(editions...), 0)
		for i, then := range editions[:len(editions)-1] {
			total, most, least := 0, 0, Least
			for _, n := range apart(last, then) {
				total, most, least = total+n, max(most, n), min(least, n)
			}
			if slices.Contains(f.Classes, i+1) {
				listed++
			} else {
				passed++
				if least < Least {
					t.Fatalf("edition %d: a class of %d is not listed", i+1, least)
				}
			}
			if !slices.Contains(f.Numbers, i+1) && total-most > 0 && total-most < Least {
				t.Fatalf("edition %d: %d with another number are not listed", i+1, total-most)
			}
		}
	}
	if listed < 100 || passed < 100 {
		t.Errorf("%d pairs are listed and %d pass: the test tries too little", listed, passed)
	}
}

func FuzzDecodeMoves(f *testing.F) {
	f.Add(encodeMoves(history(trained(nil).with(0, 30, 1), trained(nil).with(10, 50, 2))))
	f.Fuzz(func(t *testing.T, b []byte) {
		if moves, err := decodeMoves(b); err == nil {
			for _, m := range moves {
				for l := range m.Counts {
					fewOfAClass(moves[:0], l)
				}
			}
		}
	})
}

func FuzzDecodeMembers(f *testing.F) {
	f.Add(encodeMembers(trained(nil).with(0, 3, 1).members()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := decodeMembers(b); err == nil && len(list) > 0 {
			_ = personIn(list)
		}
	})
}

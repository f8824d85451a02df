package edition

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Member is a person in training, with a label: a class, or a number.
type Member struct {
	Person Element
	Label  uint32 // its place among the draft's labels
	Value  uint64 // a digest
}

// Few lists the earlier editions of a dictionary beside which sums by a label tell of fewer than [Least]
// people: of a class; or, where it is a number, of those who have another one than the rest.
type Few struct {
	Classes []int `json:"classes,omitempty"`
	Numbers []int `json:"numbers,omitempty"`
}

// counts says how many people of each value came into training, went, or have other cells.
type counts struct {
	Came, Went, Changed map[uint64]int
}

// move is how the people in training of one edition differ from those of the one before.
type move struct {
	Number  int      // of the later edition
	Unknown bool     // an earlier program has made the edition before
	Counts  []counts // by label
}

// moved compares the training people of two editions, ascending; changed says whose cells differ.
func moved(last, now []Member, labels int, changed func(Element) bool) move {
	m := move{Counts: newCounts(labels)}
	for len(last) > 0 || len(now) > 0 {
		then, has := personIn(last), personIn(now)
		switch c := comparePeople(last, now); {
		case c < 0:
			m.count(then, func(c *counts) map[uint64]int { return c.Went })
			last = last[len(then):]
		case c > 0:
			m.count(has, func(c *counts) map[uint64]int { return c.Came })
			now = now[len(has):]
		default:
			if changed(has[0].Person) || !slices.Equal(then, has) {
				m.changes(then, has)
			}
			last, now = last[len(then):], now[len(has):]
		}
	}
	return m
}

func newCounts(n int) []counts {
	list := make([]counts, n)
	for i := range list {
		list[i] = counts{make(map[uint64]int), make(map[uint64]int), make(map[uint64]int)}
	}
	return list
}

// personIn returns the members at the head that are one person.
func personIn(list []Member) []Member {
	n := 0
	for n < len(list) && list[n].Person == list[0].Person {
		n++
	}
	return list[:n]
}

// comparePeople compares the people at the heads of two lists, of which an empty one comes last.
func comparePeople(a, b []Member) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return compareElements(a[0].Person, b[0].Person)
}

// count counts one person, once for each value that he has.
func (m *move) count(one []Member, in func(*counts) map[uint64]int) {
	for _, member := range one {
		in(&m.Counts[member.Label])[member.Value]++
	}
}

// changes counts a person with other cells, who with another label came to one class and went from another.
func (m *move) changes(then, has []Member) {
	for _, member := range has {
		if c := &m.Counts[member.Label]; slices.Contains(then, member) {
			c.Changed[member.Value]++
		} else {
			c.Came[member.Value]++
		}
	}
	for _, member := range then {
		if !slices.Contains(has, member) {
			m.Counts[member.Label].Went[member.Value]++
		}
	}
}

// few finds out beside which earlier editions sums by a label tell of few; moves are those of the
// dictionary, the oldest first.
func few(moves []move, label int) (f Few) {
	if len(moves) == 0 {
		return f
	}
	for before := 1; before < moves[len(moves)-1].Number; before++ {
		since := moves[max(0, before+1-moves[0].Number):]
		unknown := before < moves[0].Number-1 || slices.ContainsFunc(since, func(m move) bool { return m.Unknown })
		if unknown || fewOfAClass(since, label) {
			f.Classes = append(f.Classes, before)
		}
		if unknown || fewOthers(since, label) {
			f.Numbers = append(f.Numbers, before)
		}
	}
	return f
}

// fewOfAClass reports whether some class may have one to nine people who are in one of two editions alone.
func fewOfAClass(since []move, label int) bool {
	for _, n := range alone(since, label) {
		if n < Least {
			return true
		}
	}
	return false
}

// fewOthers reports whether one to nine of the people who are in one of two editions alone may have another
// number than the rest of these: the sums of z and of (y-c)z, for any c, are told.
func fewOthers(since []move, label int) bool {
	total, most := 0, 0
	values := alone(since, label)
	for _, n := range values {
		total, most = total+n, max(most, n)
	}
	if total == most { // all have one number, if nobody is hidden in a difference
		return len(values) > 0 && !certain(since, label)
	}
	return total-most < Least
}

// alone returns, for each value that anybody had who moved, how many people with it are in one of two editions
// alone, at least.
func alone(since []move, label int) map[uint64]int {
	values := make(map[uint64]int)
	for _, m := range since {
		c := m.Counts[label]
		for _, list := range []map[uint64]int{c.Came, c.Went, c.Changed} {
			for v := range list {
				values[v] = 0
			}
		}
	}
	for v := range values {
		values[v] = aloneWith(since, label, v)
	}
	return values
}

// aloneWith is exact where people moved once, or only came. Else who came may have gone again, and who has
// changed may have changed back: then it is by how many more came than went, or the other way round.
func aloneWith(since []move, label int, v uint64) int {
	came, went, changed, times := 0, 0, 0, 0
	for _, m := range since {
		c := m.Counts[label]
		came, went, changed = came+c.Came[v], went+c.Went[v], changed+c.Changed[v]
		if c.Came[v]+c.Went[v]+c.Changed[v] > 0 {
			times++
		}
	}
	if times == 1 || went+changed == 0 {
		return came + went + changed
	}
	return max(came-went, went-came)
}

// certain reports whether what alone returns is exact.
func certain(since []move, label int) bool {
	times, others := 0, 0
	for _, m := range since {
		c := m.Counts[label]
		if len(c.Came)+len(c.Went)+len(c.Changed) > 0 {
			times++
		}
		others += len(c.Went) + len(c.Changed)
	}
	return times <= 1 || others == 0
}

func compareMembers(a, b Member) int {
	return cmp.Or(bytes.Compare(a.Person[:], b.Person[:]), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Value, b.Value))
}

// Items of an estate: who is in training, and how that has changed from edition to edition.
const (
	membersItem vault.Item = "members"
	movesItem   vault.Item = "moves"
)

const (
	membersMagic = "mercer/v1/members"
	movesMagic   = "mercer/v1/moves"
	maxLabels    = 1 << 12
	maxMoves     = 1 << 16
)

func encodeMembers(list []Member) []byte {
	var w wire.Writer
	w.Grow(64 + 28*len(list))
	w.String(membersMagic)
	w.Uint32(uint32(len(list)))
	for _, m := range list {
		w.Fixed(m.Person[:])
		w.Uint32(m.Label)
		w.Uint64(m.Value)
	}
	return w.Bytes()
}

func decodeMembers(b []byte) ([]Member, error) {
	r := wire.NewReader(b)
	r.Magic(len(membersMagic), membersMagic, "edition: %q is another file")
	list := make([]Member, r.Count(1<<28, 28))
	for i := range list {
		r.Fixed(list[i].Person[:])
		list[i].Label, list[i].Value = r.Uint32(), r.Uint64()
	}
	return list, r.Close(membersMagic)
}

func encodeMoves(list []move) []byte {
	var w wire.Writer
	w.String(movesMagic)
	w.Uint32(uint32(len(list)))
	for _, m := range list {
		w.Uint32(uint32(m.Number))
		w.Bool(m.Unknown)
		w.Uint32(uint32(len(m.Counts)))
		for _, c := range m.Counts {
			c.encode(&w)
		}
	}
	return w.Bytes()
}

func decodeMoves(b []byte) ([]move, error) {
	r := wire.NewReader(b)
	r.Magic(len(movesMagic), movesMagic, "edition: %q is another file")
	list := make([]move, r.Count(maxMoves, 9))
	for i := range list {
		m := move{Number: int(r.Uint32()), Unknown: r.Bool()}
		for range r.Count(maxLabels, 12) {
			m.Counts = append(m.Counts, decodeCounts(r))
		}
		list[i] = m
	}
	return list, r.Close(movesMagic)
}

func (c counts) encode(w *wire.Writer) {
	for _, list := range []map[uint64]int{c.Came, c.Went, c.Changed} {
		w.Uint32(uint32(len(list)))
		for _, v := range slices.Sorted(maps.Keys(list)) {
			w.Uint64(v)
			w.Uint32(uint32(list[v]))
		}
	}
}

func decodeCounts(r *wire.Reader) (c counts) {
	for _, list := range []*map[uint64]int{&c.Came, &c.Went, &c.Changed} {
		*list = make(map[uint64]int)
		for range r.Count(1<<28, 12) {
			v := r.Uint64()
			(*list)[v] = int(r.Uint32())
		}
	}
	return c
}

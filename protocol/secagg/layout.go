package secagg

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Group describes consecutive entries of a vector that have a common bound.
type Group struct {
	Entries int
	Bound   int64 // every client's entry x has |x| <= Bound
	Signed  bool  // entries may be below 0
}

// Layout packs the entries of a vector into words of 64 bits, which are added modulo 2^64. Each
// entry has a lane of bits that is wide enough for the sum over the largest cohort, so that no sum
// overflows its lane. A signed entry is sent as x + Bound, and the receiver subtracts Bound once
// for each client in the sum.
//
//	bits of a lane = bits of (cohort * span),  span = Bound, or 2 Bound if signed
type Layout struct {
	Cohort int // largest number of clients in a sum
	Groups []Group
	lanes  []lane
	words  int
}

// lane describes how the entries of one group are packed into words.
type lane struct {
	bits    int
	perWord int
	first   int // index of the group's first word
}

// Limits on the layout in a descriptor.
const (
	MaxEntries = 1 << 33
	maxGroups  = 1 << 16
)

// NewLayout returns a layout of the groups for sums of up to cohort clients. It returns an error if
// the sum of an entry could exceed an int64, because the sum would wrap without notice.
func NewLayout(cohort int, groups []Group) (*Layout, error) {
	if cohort < 1 || len(groups) == 0 || len(groups) > maxGroups {
		return nil, fmt.Errorf("secagg: the layout has %d groups of entries for %d clients; use 1 to 65536 groups and at least one client", len(groups), cohort)
	}
	l := &Layout{Cohort: cohort, Groups: slices.Clone(groups)}
	for i, g := range groups {
		if err := l.add(g); err != nil {
			return nil, fmt.Errorf("secagg: group %d: %w", i, err)
		}
	}
	return l, nil
}

func (l *Layout) add(g Group) error {
	if g.Entries < 1 || g.Entries > MaxEntries || g.Bound < 1 {
		return fmt.Errorf("the group has %d entries with bound %d; both must be at least 1, and the number of entries at most 2^33", g.Entries, g.Bound)
	}
	over, top := bits.Mul64(g.span(), uint64(l.Cohort))
	if over != 0 || top >= 1<<63 && !g.Signed {
		return fmt.Errorf("the sum over %d clients of entries up to %d may exceed 63 bits; use a coarser scale or fewer clients", l.Cohort, g.Bound)
	}
	width := bits.Len64(top)
	at := lane{bits: width, perWord: 64 / width, first: l.words}
	l.lanes = append(l.lanes, at)
	l.words += (g.Entries + at.perWord - 1) / at.perWord
	if l.words > MaxEntries {
		return errors.New("the packed vector is too long; at most 2^33 words are allowed")
	}
	return nil
}

// span returns the largest value that one client sends for an entry.
func (g Group) span() uint64 {
	if g.Signed {
		return 2 * uint64(g.Bound)
	}
	return uint64(g.Bound)
}

// Words returns the number of words in a packed vector. Each takes 8 bytes in a message.
func (l *Layout) Words() int { return l.words }

// Entries returns the number of entries in a vector.
func (l *Layout) Entries() int {
	n := 0
	for _, g := range l.Groups {
		n += g.Entries
	}
	return n
}

// Vector gives the entries of one client. It is read in pieces, so that a long vector need not be
// in memory as a whole. Read must be a pure function.
type Vector interface {
	// Read fills dst with the entries of a group, beginning with entry number start.
	Read(group, start int, dst []int64)
}

// Ints is a vector of a single group that is held in memory. [NewClient] and [Hash] refuse it if
// its length is not the group's number of entries.
type Ints []int64

// Read implements [Vector].
func (v Ints) Read(_, first int, dst []int64) { copy(dst, v[first:]) }

func (v Ints) check(groups []Group) error {
	if len(groups) != 1 {
		return fmt.Errorf("secagg: the vector is Ints, which has one group, but %d groups are agreed; implement Vector", len(groups))
	}
	if n := groups[0].Entries; len(v) != n {
		return fmt.Errorf("secagg: the vector has %d entries, but %d are agreed", len(v), n)
	}
	return nil
}

// RangeError reports that an entry of a vector is beyond the agreed bound, or below 0 in a group that is
// not signed. [NewClient] returns it before the client sends anything.
type RangeError struct {
	Group, Entry int
	Value, Bound int64
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("secagg: entry %d of group %d is %d, beyond the agreed bound of %d: the sum could wrap without notice", e.Entry, e.Group, e.Value, e.Bound)
}

// packWords is the number of words that are packed at a time.
const packWords = 4096

// pack fills dst with the packed words of v, beginning with word number start.
func (l *Layout) pack(v Vector, start int, dst []uint64) error {
	for len(dst) > 0 {
		g := l.groupOf(start)
		n := min(len(dst), l.end(g)-start, packWords)
		if err := l.packGroup(v, g, start-l.lanes[g].first, dst[:n]); err != nil {
			return err
		}
		start, dst = start+n, dst[n:]
	}
	return nil
}

// groupOf returns the index of the group whose entries a word holds.
func (l *Layout) groupOf(word int) int {
	g, begins := slices.BinarySearchFunc(l.lanes, word, func(at lane, word int) int { return cmp.Compare(at.first, word) })
	if begins {
		return g
	}
	return g - 1
}

// end returns the index after the last word of a group.
func (l *Layout) end(g int) int {
	if g+1 < len(l.lanes) {
		return l.lanes[g+1].first
	}
	return l.words
}

// packGroup fills dst with packed words of one group. The argument word counts from the group's
// first word.
func (l *Layout) packGroup(v Vector, g, word int, dst []uint64) error {
	at, group := l.lanes[g], l.Groups[g]
	entry := word * at.perWord
	entries := make([]int64, min(len(dst)*at.perWord, group.Entries-entry))
	v.Read(g, entry, entries)
	for w := range dst {
		first := w * at.perWord
		dst[w] = 0
		for i, x := range entries[first:min(first+at.perWord, len(entries))] {
			value, ok := group.encode(x)
			if !ok {
				return &RangeError{g, entry + first + i, x, group.Bound}
			}
			dst[w] |= value << (i * at.bits)
		}
	}
	return nil
}

// encode returns the value that is sent for an entry, and whether the entry is within the bound.
func (g Group) encode(x int64) (uint64, bool) {
	if x > g.Bound || x < -g.Bound || x < 0 && !g.Signed {
		return 0, false
	}
	if g.Signed {
		x += g.Bound
	}
	return uint64(x), true
}

// Sums unpacks the sum of the vectors of n clients. It returns one slice of sums for each group.
func (l *Layout) Sums(words []uint64, n int) [][]int64 {
	sums := make([][]int64, len(l.Groups))
	for g, group := range l.Groups {
		at := l.lanes[g]
		mask := ^uint64(0) >> (64 - at.bits)
		sums[g] = make([]int64, group.Entries)
		for i := range sums[g] {
			value := words[at.first+i/at.perWord] >> (i % at.perWord * at.bits) & mask
			sums[g][i] = int64(value)
			if group.Signed {
				sums[g][i] -= int64(n) * group.Bound
			}
		}
	}
	return sums
}

func (l *Layout) encodeTo(w *wire.Writer) {
	w.Uint32(uint32(l.Cohort))
	w.Uint32(uint32(len(l.Groups)))
	for _, g := range l.Groups {
		w.Uint64(uint64(g.Entries))
		w.Uint64(uint64(g.Bound))
		w.Bool(g.Signed)
	}
}

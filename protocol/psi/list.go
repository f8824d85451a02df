package psi

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// list holds the n blinded elements or tokens of a set. They have equal width and arrive in
// chunks, in any order.
type list struct {
	width   int
	each    int // number of entries in every chunk but the last
	n       int
	data    []byte
	have    []bool // whether each chunk has arrived
	missing int
	order   []uint32 // indices of the entries in the order of their bytes; nil before sort
}

func newList(n, width, each int) *list {
	m := chunks(n, each)
	return &list{width: width, each: each, n: n, data: make([]byte, n*width), have: make([]bool, m), missing: m}
}

func (l *list) complete() bool { return l.missing == 0 }

// span returns the half-open range of indices [lo, hi) of the entries in chunk i.
func (l *list) span(i int) (lo, hi int) { return i * l.each, min((i+1)*l.each, l.n) }

// check returns an error unless a message is a missing chunk of the list. The entries must have the
// given width.
func (l *list) check(m protocol.Message, width int) error {
	if int(m.Chunks) != len(l.have) {
		return m.Inconsistent("the message has %d chunks for %d ids; %d are required", m.Chunks, l.n, len(l.have))
	}
	if m.Chunk >= m.Chunks || l.have[m.Chunk] {
		return m.Unexpected()
	}
	if lo, hi := l.span(int(m.Chunk)); len(m.Body) != (hi-lo)*width {
		return m.Malformed(fmt.Errorf("psi: the body has %d bytes; %d are required", len(m.Body), (hi-lo)*width))
	}
	return nil
}

// put stores the entries of chunk i.
func (l *list) put(i int, entries []byte) {
	lo, _ := l.span(i)
	copy(l.data[lo*l.width:], entries)
	l.have[i] = true
	l.missing--
}

// at returns the entry that has the given rank in byte order. It requires an earlier call of sort.
func (l *list) at(rank int) []byte {
	i := int(l.order[rank])
	return l.data[i*l.width : (i+1)*l.width]
}

// sort orders the entries by their bytes and reports whether all entries differ. Blinded entries
// look like random bytes, so the sorted order reveals nothing about the order in which the entries
// arrived: sort is a shuffle without random numbers.
func (l *list) sort() (distinct bool) {
	type key struct {
		head uint64 // first eight bytes of the entry
		i    uint32
	}
	var first [257]int // first[b] is the index in keys of the first entry that begins with byte b
	for i := range l.n {
		first[int(l.data[i*l.width])+1]++
	}
	for b := range 256 {
		first[b+1] += first[b]
	}
	keys, next := make([]key, l.n), first
	for i := range l.n {
		entry := l.data[i*l.width:]
		keys[next[entry[0]]] = key{binary.BigEndian.Uint64(entry), uint32(i)}
		next[entry[0]]++
	}
	entry := func(k key) []byte { return l.data[int(k.i)*l.width : int(k.i+1)*l.width] }
	linalg.For(256, 1, func(lo, hi int) {
		slices.SortFunc(keys[first[lo]:first[hi]], func(a, b key) int {
			return cmp.Or(cmp.Compare(a.head, b.head), bytes.Compare(entry(a), entry(b)), cmp.Compare(a.i, b.i))
		})
	})
	l.order = make([]uint32, l.n)
	distinct = true
	for rank, k := range keys {
		l.order[rank] = k.i
		distinct = distinct && (rank == 0 || !bytes.Equal(entry(keys[rank-1]), entry(k)))
	}
	return distinct
}

// intersect returns, for each list, the ascending ranks of the entries that occur in all lists.
// All lists must be sorted and of one width, and the entries of each list must differ.
func intersect(lists []*list) [][]uint32 {
	ranks := make([][]uint32, len(lists))
	next := make([]int, len(lists))
	for {
		matched := 0
		for i, l := range lists {
			for next[i] < l.n && bytes.Compare(l.at(next[i]), lists[0].at(next[0])) < 0 {
				next[i]++
			}
			if next[i] == l.n {
				return ranks
			}
			if bytes.Equal(l.at(next[i]), lists[0].at(next[0])) {
				matched++
			}
		}
		if matched == len(lists) {
			for i := range lists {
				ranks[i] = append(ranks[i], uint32(next[i]))
			}
		}
		if next[0]++; next[0] == lists[0].n {
			return ranks
		}
	}
}

// checkDistinct returns an error if two rows have the same id.
func checkDistinct(ids [][]byte) error {
	sorted := make([]int, len(ids))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int { return strings.Compare(string(ids[a]), string(ids[b])) })
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; string(ids[a]) == string(ids[b]) {
			rows := []int{min(a, b), max(a, b)}
			return &IDError{ID: string(ids[a]), Rows: rows, why: fmt.Sprintf("rows %d and %d have the same id %q; give each row its own id", rows[0]+1, rows[1]+1, ids[a])}
		}
	}
	return nil
}

// writeID writes the length of an id and the id to a hash.
func writeID(h hash.Hash, id []byte) {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(id)))
	h.Write(length[:])
	h.Write(id)
}

package secagg

import (
	"crypto/sha256"
	"fmt"
	"math/bits"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// set is a set of clients, with one bit for each client. A client's number is its place among the
// descriptor's clients.
type set struct {
	n    int
	bits []byte
}

func newSet(n int) set { return set{n, make([]byte, (n+7)/8)} }

func (s set) add(i int)      { s.bits[i/8] |= 1 << (i % 8) }
func (s set) has(i int) bool { return i >= 0 && i < s.n && s.bits[i/8]>>(i%8)&1 == 1 }

func (s set) count() int {
	n := 0
	for _, b := range s.bits {
		n += bits.OnesCount8(b)
	}
	return n
}

// within reports whether every client of s is in t.
func (s set) within(t set) bool {
	for i, b := range s.bits {
		if b&^t.bits[i] != 0 {
			return false
		}
	}
	return true
}

// list returns the numbers of the set's clients in ascending order.
func (s set) list() []int {
	list := make([]int, 0, s.count())
	for i := range s.n {
		if s.has(i) {
			list = append(list, i)
		}
	}
	return list
}

// countIn returns how many of the listed clients are in s.
func (s set) countIn(list []int) int {
	n := 0
	for _, i := range list {
		if s.has(i) {
			n++
		}
	}
	return n
}

func (s set) hash() [sha256.Size]byte { return sha256.Sum256(s.bits) }

func (s set) encode(w *wire.Writer) { w.Fixed(s.bits) }

// readSet reads a set of up to n clients. Errors are kept in r.
func readSet(r *wire.Reader, n int) set {
	s := newSet(n)
	r.Fixed(s.bits)
	if spare := n % 8; r.Err() == nil && spare > 0 && s.bits[len(s.bits)-1]>>spare != 0 {
		r.Fail(fmt.Errorf("the set names clients beyond the session's %d clients", n))
	}
	return s
}

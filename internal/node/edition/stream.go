package edition

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Known pairs an element with a value of type V.
type Known[V any] struct {
	Element
	Of V
}

// Stream yields elements with their values, in ascending order of the elements, and each element once.
// It can be read any number of times, with the same result. It yields nothing after an error. A nil
// stream is empty.
type Stream[V any] = iter.Seq2[Known[V], error]

// InMemory returns a stream of a list.
func InMemory[V any](list []Known[V]) Stream[V] {
	return func(yield func(Known[V], error) bool) {
		for _, k := range list {
			if !yield(k, nil) {
				return
			}
		}
	}
}

// collect returns the list of a stream.
func collect[V any](s Stream[V]) (list []Known[V], err error) {
	if s == nil {
		return nil, nil
	}
	for k, err := range s {
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	return list, nil
}

// count returns the number of a stream's elements.
func count[V any](s Stream[V]) (n int, err error) {
	for _, err := range s {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// pair is an element of two streams, valid until the next one is yielded. The value of a stream that
// lacks the element is nil.
type pair[A, B any] struct {
	Element
	a *A
	b *B
}

// merged yields the elements of two streams in ascending order. It moves a stream on only after its
// element was used, because a stream may reuse the memory of its values.
func merged[A, B any](a Stream[A], b Stream[B]) iter.Seq2[pair[A, B], error] {
	if a == nil {
		a = InMemory[A](nil)
	}
	return func(yield func(pair[A, B], error) bool) {
		rest := begin(b)
		defer rest.stop()
		for x, err := range a {
			for err == nil && rest.before(x.Element) {
				if !yield(pair[A, B]{rest.at.Element, nil, &rest.at.Of}, nil) {
					return
				}
				rest.step()
			}
			if err = errors.Join(err, rest.err); err != nil {
				yield(pair[A, B]{}, err)
				return
			}
			both := pair[A, B]{x.Element, &x.Of, nil}
			common := rest.in && rest.at.Element == x.Element
			if common {
				both.b = &rest.at.Of
			}
			if !yield(both, nil) {
				return
			}
			if common {
				rest.step()
			}
		}
		for rest.in {
			if !yield(pair[A, B]{rest.at.Element, nil, &rest.at.Of}, nil) {
				return
			}
			rest.step()
		}
		if rest.err != nil {
			yield(pair[A, B]{}, rest.err)
		}
	}
}

// cursor reads a stream step by step.
type cursor[V any] struct {
	next func() (Known[V], error, bool)
	stop func()
	at   Known[V] // the current element; valid until the next step
	in   bool     // whether at is an element of the stream
	err  error
}

func begin[V any](s Stream[V]) *cursor[V] {
	if s == nil {
		s = InMemory[V](nil)
	}
	c := &cursor[V]{}
	c.next, c.stop = iter.Pull2(s)
	c.step()
	return c
}

func (c *cursor[V]) step() {
	c.at, c.err, c.in = c.next()
	c.in = c.in && c.err == nil
}

// before reports whether the cursor is at an element before e.
func (c *cursor[V]) before(e Element) bool { return c.in && compareElements(c.at.Element, e) < 0 }

// opener opens a stored item from its beginning.
type opener func() (io.ReadCloser, error)

// errOrder refuses a list that no program has written.
var errOrder = errors.New("the list's elements do not ascend strictly")

// writeList writes a list of n elements with their values.
func writeList[V any](to io.Writer, magic string, n int, list Stream[V], put func(*wire.Writer, V)) error {
	w := outPieces{to: to}
	w.String(magic)
	w.Uint32(uint32(n))
	for k, err := range list {
		if err != nil {
			return err
		}
		w.Fixed(k.Element[:])
		put(&w.Writer, k.Of)
		w.pass(pieceBytes)
		n--
	}
	if n != 0 {
		return fmt.Errorf("edition: a list has %d elements fewer than were counted", n)
	}
	return w.end()
}

// storedList yields a list that writeList has written. It is empty without an opener.
func storedList[V any](open opener, magic string, value func(*inPieces) V) Stream[V] {
	if open == nil {
		return nil
	}
	return func(yield func(Known[V], error) bool) {
		more := true
		err := reading(open, func(r *inPieces) error {
			more = readList(r, magic, value, func(k Known[V]) bool { return yield(k, nil) })
			if !more {
				return nil
			}
			return r.close(magic)
		})
		if err != nil && more {
			yield(Known[V]{}, err)
		}
	}
}

// readList calls use with each element of a list until use returns false. It reports whether use never
// returned false. The reader r keeps an error.
func readList[V any](r *inPieces, magic string, value func(*inPieces) V, use func(Known[V]) bool) (more bool) {
	r.magic(magic)
	var before Element
	for i := range r.count(mostElements) {
		var k Known[V]
		r.fixed(k.Element[:])
		if k.Of = value(r); i > 0 && compareElements(before, k.Element) >= 0 {
			r.fail(errOrder)
		}
		if before = k.Element; r.err != nil {
			return true
		}
		if !use(k) {
			return false
		}
	}
	return true
}

// mostElements bounds the elements of a list.
const mostElements = 1 << 28

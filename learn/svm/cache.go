package svm

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// cache keeps the most recently used rows of a kernel matrix. A row holds the same numbers whether
// it was kept or is read again. Rows are stored in slabs of a fixed size, which hold more rows when
// rows get shorter.
type cache[T linalg.Float] struct {
	read  func(rows []int, dst [][]T)
	panel int                              // greatest number of rows that fetch reads at once
	batch int                              // greatest number of rows that passPairs reads at once; even
	next  func(taken []int, max int) []int // adds to taken the rows that will probably be needed soon; can be nil
	// interrupt is called before rows are read. It is not called if it is nil.
	interrupt func() error

	width    int // number of values of a row
	slabs    [][]T
	slabSize int // number of values of a slab
	most     int // greatest number of slabs

	slot   []int // slot of each row, or -1
	owner  []int // row in each slot, vacant or reserved
	recent list  // slots in the order of their last use

	misses  int    // number of rows read from the source
	guessed []bool // for each row, whether the cache holds it and nobody has asked for it
	used    int    // number of guessed rows that were asked for
	wasted  int    // number of guessed rows that made room for others before they were asked for
}

// A slot without a row is vacant, or reserved for a row that is being read.
const (
	vacant   = -1
	reserved = -2
)

// A slab has about slabValues values, and a batch has at most batchRows rows.
const (
	slabValues = 1 << 18
	batchRows  = 64
)

// reset empties the cache. From then on, the cache reads the rows of source.
func (c *cache[T]) reset(source kernel.Source) {
	c.read, c.width = reader[T](source), source.Len()
	c.slot, c.guessed = make([]int, c.width), make([]bool, c.width)
	for i := range c.slot {
		c.slot[i] = -1
	}
	c.owner, c.recent = c.owner[:0], list{}
	for range c.slabs {
		c.addSlots()
	}
}

// addSlots adds empty slots for the rows of a new slab. They are used before other slots.
func (c *cache[T]) addSlots() {
	for range c.slabSize / max(c.width, 1) {
		c.owner = append(c.owner, vacant)
		c.recent.append()
	}
}

// row returns row i of the kernel matrix. It stays valid until two other rows have been requested.
func (c *cache[T]) row(i int) ([]T, error) {
	if c.slot[i] < 0 {
		if err := c.fetch(i); err != nil {
			return nil, err
		}
	}
	c.recent.touch(c.slot[i])
	if c.guessed[i] {
		c.guessed[i] = false
		c.used++
	}
	return c.at(c.slot[i]), nil
}

// at returns the values of the row in a slot.
func (c *cache[T]) at(slot int) []T {
	perSlab := c.slabSize / c.width
	return c.slabs[slot/perSlab][slot%perSlab*c.width:][:c.width:c.width]
}

// fetch reads row i and other rows that will probably be needed soon.
func (c *cache[T]) fetch(i int) error {
	rows := []int{i}
	if c.panel > 1 && c.next != nil && c.guesses() {
		rows = c.next(rows, c.panel)
	}
	if err := c.load(rows); err != nil {
		return err
	}
	for _, k := range rows[1:] {
		c.guessed[k] = true
	}
	return nil
}

// A cache that is too small for the rows that a solver uses loses guessed rows before they are asked
// for. When it has lost more than wastedPerUsed guessed rows for each guessed row that was used, only
// about one fetch in guessEvery guesses, which shows when guesses are good again. The counts of lost
// and of used rows survive shrink and reset, because with counts from 0 guesses would fill the cache
// before the first guessed row is lost. Which rows are guessed changes no result.
const (
	wastedPerUsed = 3
	guessEvery    = 64
)

// guesses reports whether the next fetch reads more rows than the one that is asked for.
func (c *cache[T]) guesses() bool {
	return c.wasted <= wastedPerUsed*max(c.used, c.panel) || c.misses%guessEvery == 0
}

// load reads missing rows into the cache. The number of rows is at most panel.
func (c *cache[T]) load(rows []int) error {
	slots, dst := make([]int, len(rows)), make([][]T, len(rows))
	for a := range rows {
		slots[a] = c.take()
		c.owner[slots[a]] = reserved
		c.recent.touch(slots[a])
		dst[a] = c.at(slots[a])
	}
	c.misses += len(rows)
	if err := c.readChecked(rows, dst); err != nil {
		return err
	}
	for a, i := range rows {
		c.slot[i], c.owner[slots[a]] = slots[a], i
	}
	return nil
}

// take returns a vacant slot for a row. If there is none, it adds a slab, or empties the least
// recently used slot if there are most slabs already.
func (c *cache[T]) take() int {
	last, ok := c.recent.leastRecent()
	if (!ok || c.owner[last] != vacant) && len(c.slabs) < c.most {
		c.slabs = append(c.slabs, make([]T, c.slabSize))
		c.addSlots()
		last, _ = c.recent.leastRecent()
	}
	if row := c.owner[last]; row >= 0 {
		c.slot[row], c.owner[last] = -1, vacant
		if c.guessed[row] {
			c.guessed[row] = false
			c.wasted++
		}
	}
	return last
}

// passPairs passes the given rows to the function use, two rows per call. The last row of an odd
// number has no partner. Rows that are not in the cache are read batch by batch into memory that is
// reused, since they are needed once.
func (c *cache[T]) passPairs(rows []int, use func(i int, x []T, j int, y []T)) error {
	room := make([]T, min(c.batch, len(rows))*c.width)
	all := make([][]T, c.batch)
	for a := 0; a < len(rows); a += c.batch {
		some := rows[a:min(a+c.batch, len(rows))]
		if err := c.gather(some, all, room); err != nil {
			return err
		}
		for k := 0; k < len(some); k += 2 {
			if k+1 < len(some) {
				use(some[k], all[k], some[k+1], all[k+1])
			} else {
				use(some[k], all[k], -1, nil)
			}
		}
	}
	return nil
}

// gather returns the given rows of the kernel matrix in list. It reads rows that are not in the
// cache into the memory of room.
func (c *cache[T]) gather(rows []int, list [][]T, room []T) error {
	var missing []int
	var dst [][]T
	for k, i := range rows {
		if c.slot[i] >= 0 {
			list[k] = c.at(c.slot[i])
			continue
		}
		list[k] = room[k*c.width:][:c.width]
		missing, dst = append(missing, i), append(dst, list[k])
	}
	c.misses += len(missing)
	return c.readChecked(missing, dst)
}

// readChecked reads rows and refuses values that are not finite. It calls interrupt before it
// reads.
func (c *cache[T]) readChecked(rows []int, dst [][]T) error {
	if c.interrupt != nil {
		if err := c.interrupt(); err != nil {
			return err
		}
	}
	c.read(rows, dst)
	for a, i := range rows {
		if j := linalg.FirstNotFinite(dst[a]); j >= 0 {
			return &valueError{row: i, col: j, value: float64(dst[a][j])}
		}
	}
	return nil
}

// shrink reduces the cache to the rows and columns of a smaller kernel matrix. The smaller matrix
// is source, and keep holds the indices that its rows had in the former matrix, ascending. A cached
// row stays in the cache if keep lists the row. It is reduced to the columns that keep lists.
func (c *cache[T]) shrink(source kernel.Source, keep []int) {
	oldWidth, oldSlot, oldRecent, oldGuessed := c.width, c.slot, c.recent, c.guessed
	newRow := make([]int, oldWidth) // new index of each row, or -1
	for i := range newRow {
		newRow[i] = -1
	}
	for a, k := range keep {
		newRow[k] = a
	}
	oldOwner := append([]int(nil), c.owner...)
	c.reset(source)
	before, after := c.slabSize/oldWidth, c.slabSize/max(c.width, 1)
	newSlot := make([]int, len(oldOwner)) // new slot of each old slot, or -1
	linalg.For(len(c.slabs), 1, func(s, _ int) {
		to := s * after
		for from := s * before; from < (s+1)*before; from++ {
			newSlot[from] = -1
			if row := oldOwner[from]; row >= 0 && newRow[row] >= 0 {
				squeeze(c.slabs[s][to%after*c.width:], c.slabs[s][from%before*oldWidth:][:oldWidth], keep)
				newSlot[from], to = to, to+1
			}
		}
	})
	for a, k := range keep {
		if oldSlot[k] >= 0 {
			c.slot[a] = newSlot[oldSlot[k]]
			c.owner[c.slot[a]] = a
			c.guessed[a] = oldGuessed[k]
		}
	}
	oldRecent.eachFromOldest(func(slot int) {
		if newSlot[slot] >= 0 {
			c.recent.touch(newSlot[slot])
		}
	})
}

// squeeze copies the entries with the given indices to the beginning of another slice. The slices
// can overlap if dst begins before src.
func squeeze[T any](dst, src []T, keep []int) {
	for a, k := range keep {
		dst[a] = src[k]
	}
}

// reader returns a function that copies rows of source to dst. It rounds each value to T.
func reader[T linalg.Float](source kernel.Source) func(rows []int, dst [][]T) {
	var zero T
	if _, single := any(zero).(float32); single {
		panels := source.(kernel.Panels)
		return any(panels.Panel).(func(rows []int, dst [][]T))
	}
	return func(rows []int, dst [][]T) {
		for a, i := range rows {
			source.Row(i, any(dst[a]).([]float64))
		}
	}
}

// valueError reports a kernel value that is NaN or infinite.
type valueError struct {
	row, col int
	value    float64
}

func (e *valueError) Error() string {
	return fmt.Sprintf("kernel value (%d, %d) is %v: check the data and the kernel's parameters", e.row, e.col, e.value)
}

func (e *valueError) Unwrap() error { return ErrNotFinite }

// list orders the slots of a cache by their last use. The most recently used slot is the first.
type list struct {
	// links is a ring of the slots, in the order of their last use. It begins at links[0]:
	// links[0].next is the first slot plus 1, and links[0].prev the last slot plus 1. Slot s has
	// links[s+1].
	links []link
}

type link struct{ prev, next int }

// append adds a new slot at the end of the list. Its number is the number of earlier slots.
func (l *list) append() {
	if len(l.links) == 0 {
		l.links = append(l.links, link{})
	}
	l.links = append(l.links, link{})
	l.insert(len(l.links)-1, l.links[0].prev)
}

// insert puts link i directly behind link j.
func (l *list) insert(i, j int) {
	next := l.links[j].next
	l.links[i] = link{prev: j, next: next}
	l.links[j].next, l.links[next].prev = i, i
}

// touch moves slot to the front of the list.
func (l *list) touch(slot int) {
	at := l.links[slot+1]
	l.links[at.prev].next, l.links[at.next].prev = at.next, at.prev
	l.insert(slot+1, 0)
}

// leastRecent returns the least recently used slot. It returns false if the list is empty.
func (l *list) leastRecent() (slot int, ok bool) {
	if len(l.links) < 2 {
		return 0, false
	}
	return l.links[0].prev - 1, true
}

// eachFromOldest calls f for every slot. The least recently used slot comes first.
func (l *list) eachFromOldest(f func(slot int)) {
	if len(l.links) == 0 {
		return
	}
	for at := l.links[0].prev; at != 0; at = l.links[at].prev {
		f(at - 1)
	}
}

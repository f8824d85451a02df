package mem

import (
	"container/heap"
	"sync"
	"time"
)

// letter is one message in a queue. It stays there until it is acknowledged:
// a delivery only moves the time at which it is due again.
type letter struct {
	from   string
	data   []byte
	number uint64 // order of sending
	due    time.Time
	taken  bool // delivered, and not settled since
	index  int  // in the heap; -1 when acknowledged
}

// queue holds one member's letters, ordered by the time when they are due.
type queue struct {
	ackWait  time.Duration
	capacity int

	mu      sync.Mutex
	owner   *conn // nil while the member is away
	letters letters
	size    int // bytes in letters
	sent    uint64
	changed chan struct{} // closed and replaced when anything changed
}

func (q *queue) open(c *conn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.owner != nil {
		return false
	}
	q.owner = c
	return true
}

// leave makes everything that c had taken due again at once, in the order of
// sending.
func (q *queue) leave(c *conn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.owner != c {
		return
	}
	q.owner = nil
	for _, l := range q.letters {
		if l.taken {
			l.taken, l.due = false, time.Time{}
		}
	}
	heap.Init(&q.letters)
	q.announce()
}

// push adds a letter unless the queue is full. A queue that is empty takes any
// letter, so that none is too large for it.
func (q *queue) push(l *letter) (changed <-chan struct{}, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.letters) > 0 && q.size+len(l.data) > q.capacity {
		return q.changed, false
	}
	l.number = q.sent
	q.sent++
	q.size += len(l.data)
	heap.Push(&q.letters, l)
	q.announce()
	return nil, true
}

// take returns the letter that is due, or how long to wait for the next one:
// nil for as long as nothing changes.
func (q *queue) take(now time.Time) (l *letter, next *time.Duration, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.letters) == 0 {
		return nil, nil, q.changed
	}
	l = q.letters[0]
	if wait := l.due.Sub(now); wait > 0 {
		return nil, &wait, q.changed
	}
	l.taken = true
	q.move(l, now.Add(q.ackWait))
	return l, nil, nil
}

func (q *queue) ack(l *letter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.index < 0 {
		return
	}
	heap.Remove(&q.letters, l.index)
	q.size -= len(l.data)
	q.announce()
}

func (q *queue) putBack(l *letter, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l.index < 0 {
		return
	}
	l.taken = false
	q.move(l, due)
	q.announce()
}

func (q *queue) move(l *letter, due time.Time) {
	l.due = due
	heap.Fix(&q.letters, l.index)
}

// announce wakes whoever waits for the queue. The lock must be held.
func (q *queue) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// letters is a heap by time due, then by order of sending.
type letters []*letter

func (h letters) Len() int { return len(h) }

func (h letters) Less(i, j int) bool {
	if !h[i].due.Equal(h[j].due) {
		return h[i].due.Before(h[j].due)
	}
	return h[i].number < h[j].number
}

func (h letters) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *letters) Push(x any) {
	l := x.(*letter)
	l.index = len(*h)
	*h = append(*h, l)
}

func (h *letters) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	l.index = -1
	return l
}

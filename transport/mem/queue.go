package mem

import (
	"container/heap"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/transport"
)

// letter is one message in a queue. It stays in the queue until it is acknowledged. A delivery
// only marks the message as taken, and changes the time at which the message is due again.
type letter struct {
	from   string
	data   []byte
	number uint64 // position in the order of sending
	due    time.Time
	taken  bool // whether the message is delivered but not yet settled
	index  int  // index in the heap; -1 after the acknowledgement
}

// box holds the queues of one member.
type box struct {
	queues []*queue // one queue for each lane

	mu    sync.Mutex
	owner *conn // the member's connection; nil if it has none
}

func (b *box) queue(lane transport.Lane) *queue { return b.queues[lane] }

func (b *box) open(c *conn) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owner != nil {
		return false
	}
	b.owner = c
	return true
}

// disconnect puts the unsettled messages of connection c back into their queues.
func (b *box) disconnect(c *conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owner != c {
		return
	}
	for _, q := range b.queues {
		q.giveBack()
	}
	b.owner = nil
}

// queue holds the messages for one member in one lane, ordered by the times at which they are due.
type queue struct {
	ackWait time.Duration
	share   int

	mu      sync.Mutex
	letters letters
	held    map[string]int // number of messages in the queue, by sender
	sent    uint64
	changed chan struct{} // closed and replaced at each change except a delivery
}

// giveBack makes all delivered but unsettled messages due again at once, in the order of
// sending.
func (q *queue) giveBack() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.letters {
		if l.taken {
			l.taken, l.due = false, time.Time{}
		}
	}
	heap.Init(&q.letters)
	q.announce()
}

// push adds a message, and returns false if its sender's share is full.
func (q *queue) push(l *letter) (changed <-chan struct{}, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held[l.from] >= q.share {
		return q.changed, false
	}
	l.number = q.sent
	q.sent++
	q.held[l.from]++
	heap.Push(&q.letters, l)
	q.announce()
	return nil, true
}

// take returns a message that is due. If none is due, it returns the time until the next message is
// due, or nil if the queue is empty.
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
	if q.held[l.from]--; q.held[l.from] == 0 {
		delete(q.held, l.from)
	}
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

// announce wakes all callers that wait for the queue. The caller must hold the lock.
func (q *queue) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// letters is a heap of messages, ordered by the time at which they are due and then by the
// order of sending.
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

package coordinator

import (
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
)

const (
	// maxAnswers bounds the prediction queries that the coordinator answers at the same time.
	maxAnswers = 8
	// maxHeld bounds the prediction queries of one party in the queue, both waiting and being
	// answered. A party sends one query at a time, but the next query may arrive before the
	// coordinator has finished the last.
	maxHeld = 2
	// overtaking is how long the coordinator continues to answer a query after its party has sent a
	// newer query. The party no longer waits for the older query, whose last messages may still be
	// on the way.
	overtaking = 2 * time.Second
)

// asked is a prediction query from a party, which may send the query more than once.
type asked struct {
	control.Question
	party string
	in    driver.Inbound

	overtaken chan struct{} // closed some time after the party has sent a newer query
}

func (q *asked) same(o *asked) bool { return q.party == o.party && q.Question == o.Question }

// queue holds the prediction queries that wait and those that are being answered. It is safe for
// concurrent use.
type queue struct {
	mu        sync.Mutex
	waiting   []*asked        // waiting prediction queries in the order of arrival
	answering []*asked        // prediction queries being answered, at most one of each party
	refusing  map[string]bool // parties to which a refusal is being sent
}

// admitResult is the queue's decision about a query that arrives.
type admitResult int

const (
	admission admitResult = iota
	repeated              // the queue already contains the query
	refused               // the party has maxHeld queries in the queue
)

// admit adds a prediction query to the queue if the party's limit allows it.
func (d *queue) admit(q *asked) admitResult {
	d.mu.Lock()
	defer d.mu.Unlock()
	var held []*asked
	for _, other := range slices.Concat(d.answering, d.waiting) {
		if other.same(q) {
			return repeated
		}
		if other.party == q.party {
			held = append(held, other)
		}
	}
	if len(held) >= maxHeld {
		return refused
	}
	d.waiting = append(d.waiting, q)
	if len(held) > 0 {
		time.AfterFunc(overtaking, func() { close(held[0].overtaken) }) // the channel is closed only once, because the queue refuses a third query
	}
	return admission
}

// nextQuery returns the next prediction query to answer, or nil if the limits allow none now.
func (d *queue) nextQuery() *asked {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.answering) >= maxAnswers {
		return nil
	}
	i := slices.IndexFunc(d.waiting, func(q *asked) bool {
		return !slices.ContainsFunc(d.answering, func(other *asked) bool { return other.party == q.party })
	})
	if i < 0 {
		return nil
	}
	q := d.waiting[i]
	d.waiting = slices.Delete(d.waiting, i, i+1)
	d.answering = append(d.answering, q)
	return q
}

// isAnswering reports whether the coordinator is answering the prediction query with this id.
func (d *queue) isAnswering(id job.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.answering, func(q *asked) bool {
		return (&control.Inquiry{Question: q.Question, Asker: q.party}).ID() == id
	})
}

// done removes an answered prediction query from the queue.
func (d *queue) done(q *asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answering = slices.DeleteFunc(d.answering, func(other *asked) bool { return other == q })
}

// beginRefusal reports whether the coordinator may send a party a refusal, and records that a
// refusal is being sent. It allows only one unfinished refusal for each party, since the party may
// not be listening.
func (d *queue) beginRefusal(party string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusing[party] {
		return false
	}
	d.refusing[party] = true
	return true
}

// endRefusal records that a refusal to a party has been sent or has failed.
func (d *queue) endRefusal(party string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.refusing, party)
}

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
	// maxAnswers bounds the questions that the coordinator answers at a time, at most one for each
	// party.
	maxAnswers = 8
	// maxHeld bounds the questions of one party that are waiting or being answered. A party asks
	// one at a time, but its next question may come before its last is done here.
	maxHeld = 2
	// overtaking is the time for which a question may still run after its party has asked another
	// one. The party no longer waits for the first, whose end may be on its way.
	overtaking = 2 * time.Second
)

// asked is a question that a party has sent, perhaps more than once.
type asked struct {
	control.Question
	party string
	in    driver.Inbound

	overtaken chan struct{} // closed when the party waits for another question instead
}

func (q *asked) same(o *asked) bool { return q.party == o.party && q.Question == o.Question }

// queue holds the questions that are being answered and those that wait. It is safe
// for concurrent use.
type queue struct {
	mu        sync.Mutex
	waiting   []*asked        // waiting questions in the order of their arrival
	answering []*asked        // questions being answered, at most one of each party
	refusing  map[string]bool // parties to which a refusal is being sent
}

// place says what happens to a question that arrives.
type place int

const (
	admission place = iota
	repeated        // the queue already has the question
	refused         // the party has too many questions in the queue
)

// admit adds a question to the queue if its party may ask it.
func (d *queue) admit(q *asked) place {
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
		time.AfterFunc(overtaking, func() { close(held[0].overtaken) }) // closes once: no further question of the party is admitted before
	}
	return admission
}

// next returns the next question to answer, or nil if none may be answered now.
func (d *queue) next() *asked {
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

// answers reports whether the coordinator is answering the question with this id.
func (d *queue) answers(id job.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.answering, func(q *asked) bool {
		return (&control.Inquiry{Question: q.Question, Asker: q.party}).ID() == id
	})
}

// done removes an answered question from the queue.
func (d *queue) done(q *asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answering = slices.DeleteFunc(d.answering, func(other *asked) bool { return other == q })
}

// refuse reports whether to send a party a refusal now. It allows only one unfinished refusal for
// each party, since the party may not be listening.
func (d *queue) refuse(party string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusing[party] {
		return false
	}
	d.refusing[party] = true
	return true
}

// notified records that sending a party the allowed refusal has ended.
func (d *queue) notified(party string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.refusing, party)
}

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
	// maxAnswers bounds the questions that are answered at a time, one of each party.
	maxAnswers = 8
	// maxHeld bounds a party's questions that are answered or wait: a party asks one at a time, and its
	// next may come before its last is done here.
	maxHeld = 2
	// overtaking is the time for which a question may still run once its party has asked another one:
	// the party no longer waits for the first, whose end may be on its way.
	overtaking = 2 * time.Second
)

// asked is a question of a party, which may come more than once.
type asked struct {
	control.Question
	party string
	in    driver.Inbound

	overtaken chan struct{} // closed once its party waits for another question
}

func (q *asked) same(o *asked) bool { return q.party == o.party && q.Question == o.Question }

// queue holds the questions that are being answered and those that wait. It is safe
// for concurrent use.
type queue struct {
	mu        sync.Mutex
	waiting   []*asked        // in the order in which they came
	answering []*asked        // one of a party
	refusing  map[string]bool // parties to which a refusal is being sent
}

// place names the treatment of an incoming question.
type place int

const (
	admission place = iota
	repeated        // the question is already held
	refused         // its party has too many here
)

// admit adds a question to the queue.
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
		time.AfterFunc(overtaking, func() { close(held[0].overtaken) }) // once, since nothing else is admitted before
	}
	return admission
}

// next returns the next question to answer, or nil if there is none or no place.
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

// answers reports whether an inquiry is being answered, by the id under which parties hold it.
func (d *queue) answers(id job.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.answering, func(q *asked) bool {
		return (&control.Inquiry{Question: q.Question, Asker: q.party}).ID() == id
	})
}

// done removes a question.
func (d *queue) done(q *asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answering = slices.DeleteFunc(d.answering, func(other *asked) bool { return other == q })
}

// refuse reports whether to send a party a refusal now. Only one refusal for each party is under way at
// a time, since the party may not be listening.
func (d *queue) refuse(party string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusing[party] {
		return false
	}
	d.refusing[party] = true
	return true
}

// notified records that the refusal allowed by refuse is no longer under way.
func (d *queue) notified(party string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.refusing, party)
}

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
	// maxHeld bounds a party's questions that are answered or wait: a party asks one
	// at a time, and its next may come before its last is put away here.
	maxHeld = 2
	// overtaking is the time that a question may still run once its party has asked another:
	// the party no longer waits for the first, whose end may be on its way.
	overtaking = 2 * time.Second
)

// asked is a question that a party has asked, which may come more than once.
type asked struct {
	control.Question
	party string
	in    driver.Inbound

	overtaken chan struct{} // closed once its party has asked another and waits for that
}

func (q *asked) same(o *asked) bool { return q.party == o.party && q.Question == o.Question }

// queue holds the questions that are being answered and those that wait. It is safe
// for concurrent use.
type queue struct {
	mu        sync.Mutex
	waiting   []*asked        // in the order in which they came
	answering []*asked        // one of a party
	refusing  map[string]bool // the parties that are being told that they ask too much
}

// place names the treatment of an incoming question.
type place int

const (
	admission place = iota
	repeated        // the question is already held
	refused         // its party has too many here
)

// admit takes a question up.
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
		time.AfterFunc(overtaking, func() { close(held[0].overtaken) }) // once, as nothing else is admitted before
	}
	return admission
}

// next returns the question to answer next, or nil while there is none or no place.
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

// answers reports whether an inquiry is being answered, by the id under which parties
// hold it.
func (d *queue) answers(id job.ID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.answering, func(q *asked) bool {
		return (&control.Inquiry{Question: q.Question, Asker: q.party}).ID() == id
	})
}

// done puts a question away.
func (d *queue) done(q *asked) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answering = slices.DeleteFunc(d.answering, func(other *asked) bool { return other == q })
}

// refuse reports whether to tell a party now that it asks too much: only one such refusal
// per party is under way at a time, since nobody waits until the party listens.
func (d *queue) refuse(party string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refusing[party] {
		return false
	}
	d.refusing[party] = true
	return true
}

// notified ends what refuse began.
func (d *queue) notified(party string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.refusing, party)
}

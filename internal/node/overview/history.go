package overview

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Limits of a history.
const (
	maxEvents  = 4096 // events in all
	maxOfOne   = 256  // events of one job, and of one member
	maxReaders = 64   // followers at a time
	maxOfUser  = 4    // followers of one user
	maxBehind  = 256  // events that wait for one follower at a time
)

// History keeps a daemon's latest events in memory. They are lost when the daemon ends; its log has them
// too. If a job or a member has too many events, a new event of it displaces its oldest one; if the history has
// too many, a new event displaces the oldest of all. So a member that connects again and again displaces at most
// maxOfOne events of others, and then only its own. A History is safe for concurrent use.
type History struct {
	mu        sync.Mutex
	events    []Event
	number    map[subject]int // number of the events of each job and of each member
	counts    map[Kind]uint64
	followers map[*Follower]bool
}

// subject is the job or the member that an event is about.
type subject struct{ job, member string }

func (e Event) subject() subject {
	if e.Job != "" {
		return subject{job: e.Job}
	}
	return subject{member: e.Member}
}

// NewHistory returns a history without events.
func NewHistory() *History {
	return &History{number: make(map[subject]int), counts: make(map[Kind]uint64), followers: make(map[*Follower]bool)}
}

// Record logs an event like [Event.Log], and adds it to the history.
func (h *History) Record(log *slog.Logger, level slog.Level, line string, e Event, more ...any) {
	e.Log(log, level, line, more...)
	h.Add(e)
}

// Add adds an event to the history. An event without a time happens now.
func (h *History) Add(e Event) {
	e = e.bounded()
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts[e.Kind]++
	h.makeRoom(e.subject())
	h.events = append(h.events, e)
	h.number[e.subject()]++
	for f := range h.followers {
		if f.job == "" || f.job == e.Job {
			h.pass(f, e)
		}
	}
}

// makeRoom removes the oldest event of a job or member that has too many, or of all if there are too many.
func (h *History) makeRoom(of subject) {
	oldest := 0
	switch {
	case h.number[of] >= maxOfOne:
		oldest = slices.IndexFunc(h.events, func(e Event) bool { return e.subject() == of })
	case len(h.events) < maxEvents:
		return
	}
	gone := h.events[oldest].subject()
	h.events = slices.Delete(h.events, oldest, oldest+1)
	if h.number[gone]--; h.number[gone] == 0 {
		delete(h.number, gone)
	}
}

// pass sends an event to a follower, or drops a follower that is too far behind.
func (h *History) pass(f *Follower, e Event) {
	select {
	case f.events <- e:
	default:
		delete(h.followers, f)
		close(f.events)
	}
}

// Of returns the kept events of a job, oldest first. The job "" stands for all events.
func (h *History) Of(job string) []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of(job)
}

func (h *History) of(job string) []Event {
	list := []Event{}
	for _, e := range h.events {
		if job == "" || e.Job == job {
			list = append(list, e)
		}
	}
	return list
}

// Count returns the number of events of a kind since the daemon's start.
func (h *History) Count(k Kind) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts[k]
}

// Follower receives the events of a job, or all events.
type Follower struct {
	history *History
	user    int
	job     string
	events  chan Event
}

// errFull reports that a history has maxReaders followers, and errEnough that one user has maxOfUser followers.
var (
	errFull   = errors.New("as many readers as allowed follow the events of this daemon; end one of them")
	errEnough = errors.New("as many readers of this user as allowed follow the events of this daemon; end one of them")
)

// Follow returns the kept events of a job, like [History.Of], and a follower that receives the next ones for a Unix
// user. The caller must call [Follower.Stop].
func (h *History) Follow(job string, user int) (kept []Event, f *Follower, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.followers) >= maxReaders {
		return nil, nil, errFull
	}
	own := 0
	for f := range h.followers {
		if f.user == user {
			own++
		}
	}
	if own >= maxOfUser {
		return nil, nil, errEnough
	}
	f = &Follower{h, user, job, make(chan Event, maxBehind)}
	h.followers[f] = true
	return h.of(job), f, nil
}

// Next returns the channel of the next events. The channel is closed when the reader is so slow that maxBehind
// events wait for it and another event comes.
func (f *Follower) Next() <-chan Event { return f.events }

// Stop ends the follower. A second call does nothing.
func (f *Follower) Stop() {
	f.history.mu.Lock()
	defer f.history.mu.Unlock()
	delete(f.history.followers, f)
}

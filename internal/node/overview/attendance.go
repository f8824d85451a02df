package overview

import (
	"slices"
	"sync"
	"time"
)

// Connection is a member's open connection.
type Connection struct {
	Member  string
	Since   time.Time
	Version string // version that the member's program gives, or ""
}

// Attendance records which members are connected, and since when. It is safe for concurrent use.
type Attendance struct {
	mu      sync.Mutex
	members []Member
}

// NewAttendance returns the attendance of members of whom none is connected.
func NewAttendance(members ...Member) *Attendance { return &Attendance{members: members} }

// Update records the open connections at a moment. It returns the members whose connection is new or has
// been lost since the last call.
func (a *Attendance) Update(open []Connection, now time.Time) (changed []Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.members {
		m := &a.members[i]
		at := slices.IndexFunc(open, func(c Connection) bool { return c.Member == m.Name })
		switch {
		case at >= 0 && (!m.Connected || !m.Since.Equal(open[at].Since)):
			m.Connected, m.Since, m.Version = true, open[at].Since, open[at].Version
		case at < 0 && m.Connected:
			m.Connected, m.Since = false, now
		default:
			continue
		}
		changed = append(changed, *m)
	}
	return changed
}

// SetMembers replaces the members. A member that was there before keeps its connection, if it has one.
func (a *Attendance) SetMembers(members []Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	next := slices.Clone(members)
	for i, m := range next {
		if at := slices.IndexFunc(a.members, func(o Member) bool { return o.Name == m.Name }); at >= 0 {
			next[i] = a.members[at]
		}
	}
	a.members = next
}

// Members returns all members, in the order of [NewAttendance] or of the last SetMembers.
func (a *Attendance) Members() []Member {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.members)
}

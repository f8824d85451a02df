package fdskl

import (
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// lane is one active worker's requests, as this worker has them.
type lane struct {
	index     int
	names     []string // of the workers, this active one first: the numbers in its trees
	self      int
	trees     []Tree
	owned     Span // the directions that this active worker may ask for
	marks     marks
	counter   uint32 // of the last request, from 1
	task      *task  // nil before the first
	witnessed bool   // the last request was shown by the worker before this one
	owed      bool   // this worker, who is active too, owes it a part of f
	finished  bool
}

// task is a request that is being answered, or was answered last.
type task struct {
	request Request
	signed  witness
	layout  layout
	passes  []pass // one for each tree
	masks   []mask
	phases  []byte // mode paper: this worker's share of the directions' own
}

// order lists the workers, the active one with the given index first.
func order(s *protocol.Session, index int) []string {
	first := s.With(protocol.RoleLeader)[index]
	names := []string{first}
	for _, name := range s.With(protocol.RoleLeader, protocol.RoleParty) {
		if name != first {
			names = append(names, name)
		}
	}
	return names
}

func (l *lane) place(name string) int { return slices.Index(l.names, name) }

// own reports whether the lane is this worker's.
func (l *lane) own() bool { return l.self == 0 }

// idle reports whether nothing of the last request is left to do.
func (l *lane) idle() bool { return l.task == nil || l.task.answered() }

// laneOf finds the lane that a message belongs to, and which request of it.
func (w *worker) laneOf(m protocol.Message) (*lane, uint32) {
	n := uint32(len(w.lanes))
	return &w.lanes[m.Sequence%n], m.Sequence / n
}

// sequence numbers a lane's requests among the requests of all lanes.
func (w *worker) sequence(l *lane, counter uint32) uint32 {
	return counter*uint32(len(w.lanes)) + uint32(l.index)
}

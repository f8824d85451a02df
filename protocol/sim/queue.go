package sim

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// item is an event on its way to a node.
type item struct {
	at     int64 // tick before which the event cannot happen
	order  int   // position in the order of queueing, which breaks ties
	to     *node
	event  protocol.Event
	parcel *parcel // the message, if the event is a Received; nil otherwise
	lost   bool    // the first delivery of the message was lost
	// later is not 0 if the receiver has answered ErrLater. It is one more than the length of the
	// receiver's journal at that time. A machine that has accepted no event since then would answer
	// the same again.
	later int
}

// parcel is a message in the network. All its duplicates share one parcel.
type parcel struct {
	edge   *Edge
	to     *node
	size   int
	digest [sha256.Size]byte // digest of the message as it was sent
	done   bool              // the message no longer counts as undelivered
}

// alarm is an armed timer of a node and the tick at which it fires.
type alarm struct {
	at    int64
	order int
	to    *node
	timer protocol.Timer
}

// push queues an event for a node. An event from the network gets a random delay.
func (s *simulation) push(it item) {
	s.order++
	it.at, it.order = s.now, s.order
	if it.parcel != nil {
		it.at += s.delay(it.to)
	}
	s.queue = append(s.queue, it)
}

func (s *simulation) delay(to *node) int64 {
	d := s.config.Slow[to.Name]
	if s.config.MaxDelay > 0 {
		d += s.random.Int64N(s.config.MaxDelay + 1)
	}
	return d
}

// takeNext removes the next event of the simulation and returns it, or false if there is none.
func (s *simulation) takeNext() (item, bool) {
	if len(s.alarms) > 0 && s.chance(s.config.Hasty) {
		return s.fire(s.random.IntN(len(s.alarms))), true
	}
	ready := s.readyItems()
	if len(ready) == 0 {
		return s.nextAlarm()
	}
	i := slices.MinFunc(ready, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.queue[a].at, s.queue[b].at), cmp.Compare(s.queue[a].order, s.queue[b].order))
	})
	if s.chance(s.config.Reorder) {
		i = ready[s.random.IntN(len(ready))]
	}
	it := s.queue[i]
	s.queue = slices.Delete(s.queue, i, i+1)
	return it, true
}

// readyItems returns the indices of the queued items that can happen now. If there are none, it
// advances the time to the next item that only waits for its time. With Schedule.Prompt it does not
// advance the time beyond the next alarm.
func (s *simulation) readyItems() []int {
	s.scratch = s.scratch[:0]
	soonest := int64(-1)
	for i := range s.queue {
		it := &s.queue[i]
		switch {
		case !s.canHappen(it):
		case it.at <= s.now:
			s.scratch = append(s.scratch, i)
		case soonest < 0 || it.at < soonest:
			soonest = it.at
		}
	}
	if len(s.scratch) > 0 || soonest < 0 || s.config.Prompt && s.alarmBefore(soonest) {
		return s.scratch
	}
	s.now = soonest
	return s.readyItems()
}

// canHappen reports whether a node is ready for an item, apart from the time of the item.
func (s *simulation) canHappen(it *item) bool {
	started := len(it.to.journal) > 0
	switch it.event.(type) {
	case protocol.Start:
		return true
	case protocol.Resumed:
		return s.belowWindow(it.to)
	default:
		return started && it.later != len(it.to.journal)+1
	}
}

// belowWindow reports whether fewer than Window messages of n are undelivered at each of its
// receivers.
func (s *simulation) belowWindow(n *node) bool {
	if s.config.Window == 0 {
		return true
	}
	for _, e := range n.edges {
		if e.waiting >= s.config.Window {
			return false
		}
	}
	return true
}

// arm starts a timer of a node, or restarts the timer if it is armed.
func (s *simulation) arm(n *node, t protocol.Timer) {
	ticks, ok := n.Timers[t]
	if !ok {
		return
	}
	s.alarms = slices.DeleteFunc(s.alarms, func(a alarm) bool { return a.to == n && a.timer == t })
	s.order++
	s.alarms = append(s.alarms, alarm{at: s.now + ticks, order: s.order, to: n, timer: t})
}

// alarmBefore reports whether an armed timer fires before the given tick.
func (s *simulation) alarmBefore(tick int64) bool {
	return slices.ContainsFunc(s.alarms, func(a alarm) bool { return a.at < tick })
}

// nextAlarm advances the time to the earliest alarm and returns its event, or false if no timer is
// armed.
func (s *simulation) nextAlarm() (item, bool) {
	if len(s.alarms) == 0 {
		return item{}, false
	}
	best := 0
	for i, a := range s.alarms {
		b := s.alarms[best]
		if a.at < b.at || a.at == b.at && a.order < b.order {
			best = i
		}
	}
	return s.fire(best), true
}

func (s *simulation) fire(i int) item {
	a := s.alarms[i]
	s.alarms = slices.Delete(s.alarms, i, i+1)
	s.now = max(s.now, a.at)
	return item{to: a.to, event: protocol.Expired{Timer: a.timer}}
}

// forget removes all queued events and alarms of n, which accepts no more events.
func (s *simulation) forget(n *node) {
	s.queue = slices.DeleteFunc(s.queue, func(it item) bool {
		if it.to == n && it.parcel != nil {
			s.settle(it.parcel)
		}
		return it.to == n
	})
	s.alarms = slices.DeleteFunc(s.alarms, func(a alarm) bool { return a.to == n })
}

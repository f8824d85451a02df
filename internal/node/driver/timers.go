package driver

import (
	"slices"
	"time"

	"github.com/mercer-fl/mercer/protocol"
)

// timers holds the machine's armed timers and their clocks. Timers are armed before the clocks run,
// so that a replay can arm and disarm without waiting.
type timers struct {
	armed  []protocol.Timer // armed timers, the earliest armed first
	clocks map[protocol.Timer]*clock
	fired  chan *clock
	over   chan struct{}
}

// clock measures the time of one armed timer. A timer that is armed again gets another clock, so
// that an expired run can be distinguished from the present one.
type clock struct {
	name protocol.Timer
	*time.Timer
}

func (t *timers) arm(name protocol.Timer) {
	if !slices.Contains(t.armed, name) {
		t.armed = append(t.armed, name)
	}
}

// disarm removes a timer and reports whether it was armed.
func (t *timers) disarm(name protocol.Timer) bool {
	i := slices.Index(t.armed, name)
	if i < 0 {
		return false
	}
	t.armed = slices.Delete(t.armed, i, i+1)
	return true
}

// expired disarms the timer of an expired clock. It reports false if the timer was disarmed or
// armed again meanwhile.
func (t *timers) expired(c *clock) bool { return t.clocks[c.name] == c && t.disarm(c.name) }

// start starts the clocks of all armed timers. After a restart each clock begins anew: the time
// that a process was down does not count against its peers.
func (t *timers) start(timeout func(protocol.Timer) time.Duration) {
	for _, name := range t.armed {
		t.run(name, timeout(name))
	}
}

// run starts a timer's clock, or starts it anew.
func (t *timers) run(name protocol.Timer, after time.Duration) {
	if old, ok := t.clocks[name]; ok {
		old.Stop()
	}
	c := &clock{name: name}
	c.Timer = time.AfterFunc(after, func() {
		select {
		case t.fired <- c:
		case <-t.over:
		}
	})
	t.clocks[name] = c
}

// stop stops all clocks.
func (t *timers) stop() {
	close(t.over)
	for _, c := range t.clocks {
		c.Stop()
	}
}

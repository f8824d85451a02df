package crowd

import (
	"context"
	"sync"
)

// Limits on what devices may have under way. Only enrolled devices have a desk: a stranger's
// request ends before it.
const (
	maxPolls   = 2                    // of a device
	maxReading = 64 * maxPostBytes    // of bodies that are being read, of all devices
	maxLate    = 16 * maxPostBytes    // of these, of devices whose bodies came too late before
	maxPrompt  = maxReading - maxLate // of the other devices
)

// desk holds what a device has under way.
type desk struct {
	posting bool
	polls   []*poll
	late    bool // a body of the device came too late, or not at all
}

// poll is a request that waits for something to happen.
type poll struct{ end context.CancelFunc }

// desks holds the desks of all devices.
type desks struct {
	mu      sync.Mutex
	of      map[string]*desk
	reading [2]int64 // bytes: of devices that were never late, of those that were
}

// desk returns a device's desk. The lock is held.
func (d *desks) desk(name string) *desk {
	if d.of == nil {
		d.of = make(map[string]*desk)
	}
	if d.of[name] == nil {
		d.of[name] = &desk{}
	}
	return d.of[name]
}

// leave forgets a desk that has nothing to remember. The lock is held.
func (d *desks) leave(name string) {
	if one := d.of[name]; !one.posting && len(one.polls) == 0 && !one.late {
		delete(d.of, name)
	}
}

// poll lets a device's poll in. A third one ends the oldest: a device that was killed may come
// back before its old connections are known to be gone. end must be called.
func (d *desks) poll(ctx context.Context, name string) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	p := &poll{cancel}
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	if one.polls = append(one.polls, p); len(one.polls) > maxPolls {
		one.polls[0].end()
		one.polls = one.polls[1:]
	}
	return ctx, func() { d.end(name, p) }
}

func (d *desks) end(name string, p *poll) {
	p.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	for i, other := range one.polls {
		if other == p {
			one.polls = append(one.polls[:i:i], one.polls[i+1:]...)
			break
		}
	}
	d.leave(name)
}

// post gives a device a place for a body of a length, if it has no other, and if there is
// room among the devices of its kind. done must be called, with the lateness of the body.
func (d *desks) post(name string, length int64) (done func(late bool), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	kind, most := 0, int64(maxPrompt)
	if one.late {
		kind, most = 1, maxLate
	}
	if one.posting || d.reading[kind]+length > most {
		d.leave(name)
		return nil, false
	}
	one.posting = true
	d.reading[kind] += length
	return func(late bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		one.posting, one.late = false, one.late || late
		d.reading[kind] -= length
		d.leave(name)
	}, true
}

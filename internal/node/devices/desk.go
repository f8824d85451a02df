package devices

import (
	"context"
	"slices"
	"sync"
)

// Limits on the requests of devices in progress. Only enrolled devices have a desk: the request of a
// stranger is refused earlier.
const (
	maxPolls   = 2                               // of a device, with the answers to them that it is reading
	maxReading = 64 * maxPostBytes               // of bodies being read, of all devices
	maxOften   = maxPostBytes                    // of these, for devices that were late more than maxTimes
	maxLate    = 16*maxPostBytes - maxOften      // of these, for devices that were late before
	maxPrompt  = maxReading - maxLate - maxOften // of these, for the other devices
	maxTimes   = 3
)

// rooms has the bytes that may be read at a time for each kind of devices: see [desk.kind].
var rooms = [...]int64{maxPrompt, maxLate, maxOften}

// desk has the requests of one device that are in progress.
type desk struct {
	posting bool
	polls   []*poll
	late    int // bodies of the device that came slowly or not at all, or were malformed
}

// kind returns the index of the device's kind in rooms.
func (d *desk) kind() int {
	switch {
	case d.late == 0:
		return 0
	case d.late <= maxTimes:
		return 1
	}
	return 2
}

// poll is a request that waits for an event, until its answer has been read.
type poll struct {
	end       context.CancelFunc
	answering bool
}

// desks has the desks of all devices.
type desks struct {
	mu      sync.Mutex
	of      map[string]*desk
	reading [len(rooms)]int64 // bytes, by kind of devices
}

// desk returns a device's desk. The lock must be held.
func (d *desks) desk(name string) *desk {
	if d.of == nil {
		d.of = make(map[string]*desk)
	}
	if d.of[name] == nil {
		d.of[name] = &desk{}
	}
	return d.of[name]
}

// leave removes a desk without content. The lock must be held.
func (d *desks) leave(name string) {
	if one := d.of[name]; !one.posting && len(one.polls) == 0 && one.late == 0 {
		delete(d.of, name)
	}
}

// poll gives a device's request a place until its answer is sent. A third request ends the oldest
// waiting one, because a device that was killed may come back before the server notices the end of
// its old connections. If none waits, because the device does not read its answers, there is no
// place. The caller must call end.
func (d *desks) poll(ctx context.Context, name string) (_ context.Context, p *poll, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	if len(one.polls) == maxPolls {
		oldest := slices.IndexFunc(one.polls, func(p *poll) bool { return !p.answering })
		if oldest < 0 {
			return nil, nil, false
		}
		one.polls[oldest].end()
		one.polls = slices.Delete(one.polls, oldest, oldest+1)
	}
	ctx, cancel := context.WithTimeout(ctx, waitTime)
	p = &poll{end: cancel}
	one.polls = append(one.polls, p)
	return ctx, p, true
}

// answer reports whether a request still has its place, without which it must not be answered.
func (d *desks) answer(name string, p *poll) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.of[name]
	p.answering = one != nil && slices.Contains(one.polls, p)
	return p.answering
}

// end frees the place of a request after its answer.
func (d *desks) end(name string, p *poll) {
	p.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	one.polls = slices.DeleteFunc(one.polls, func(other *poll) bool { return other == p })
	d.leave(name)
}

// post reserves a place for a body of a device, if the device has no other place and there is room for
// its kind of devices. The caller must call done and pass whether the device was late.
func (d *desks) post(name string, length int64) (done func(late bool), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	kind := one.kind()
	if one.posting || d.reading[kind]+length > rooms[kind] {
		d.leave(name)
		return nil, false
	}
	one.posting = true
	d.reading[kind] += length
	return func(late bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		one.posting = false
		if late {
			one.late++
		}
		d.reading[kind] -= length
		d.leave(name)
	}, true
}

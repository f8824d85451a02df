package devices

import (
	"context"
	"slices"
	"sync"
)

// These constants limit the requests of devices in progress. Only enrolled devices have a desk: the
// request of a stranger is refused earlier.
const (
	maxPolls   = 2                               // largest number of GET requests of one device in progress
	maxReading = 64 * maxPostBytes               // largest number of body bytes that are read at a time from all devices
	maxOften   = maxPostBytes                    // share of maxReading for devices that were often late
	maxLate    = 16*maxPostBytes - maxOften      // share of maxReading for devices that were sometimes late
	maxPrompt  = maxReading - maxLate - maxOften // share of maxReading for devices that were never late
	maxTimes   = 3                               // a device that was late more than maxTimes times counts as often late
)

// readLimits holds the number of body bytes that may be read at a time, for each kind of device.
// The method [desk.kind] defines the kinds.
var readLimits = [...]int64{maxPrompt, maxLate, maxOften}

// desk holds the state of one device's requests in progress.
type desk struct {
	posting bool
	polls   []*poll
	late    int // number of the device's bodies that were slow, cut off or malformed
}

// kind returns the device's index in readLimits: 0 if it was never late, 1 if sometimes, 2 if
// often.
func (d *desk) kind() int {
	switch {
	case d.late == 0:
		return 0
	case d.late <= maxTimes:
		return 1
	}
	return 2
}

// poll is a GET request that waits for an event. It keeps its place until its answer has been sent.
type poll struct {
	end       context.CancelFunc
	answering bool
}

// desks holds the desks of all devices.
type desks struct {
	mu      sync.Mutex
	of      map[string]*desk
	reading [len(readLimits)]int64 // body bytes being read, by kind of device
}

// desk returns the desk of a device, and makes one if necessary. The lock must be held.
func (d *desks) desk(name string) *desk {
	if d.of == nil {
		d.of = make(map[string]*desk)
	}
	if d.of[name] == nil {
		d.of[name] = &desk{}
	}
	return d.of[name]
}

// removeIdle removes a device's desk if it holds nothing. The lock must be held.
func (d *desks) removeIdle(name string) {
	if one := d.of[name]; !one.posting && len(one.polls) == 0 && one.late == 0 {
		delete(d.of, name)
	}
}

// poll registers a GET request of a device until its answer is sent. A third request ends the
// oldest waiting request, because a killed device may come back before the server notices the end
// of its old connections. If no request waits, because the device does not read its answers, poll
// refuses the new one. The caller must call end.
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

// mayAnswer reports whether no newer request has ended a request. It then marks the request as one
// that is being answered.
func (d *desks) mayAnswer(name string, p *poll) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.of[name]
	p.answering = one != nil && slices.Contains(one.polls, p)
	return p.answering
}

// end removes a request from its device's desk after the answer.
func (d *desks) end(name string, p *poll) {
	p.end()
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	one.polls = slices.DeleteFunc(one.polls, func(other *poll) bool { return other == p })
	d.removeIdle(name)
}

// post lets a device send a message body, if the device sends no other body and the limit for its
// kind allows the length. The caller must call the returned function with true if the device was
// late, and with false otherwise.
func (d *desks) post(name string, length int64) (done func(late bool), ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.desk(name)
	kind := one.kind()
	if one.posting || d.reading[kind]+length > readLimits[kind] {
		d.removeIdle(name)
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
		d.removeIdle(name)
	}, true
}

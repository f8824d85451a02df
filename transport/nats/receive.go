package nats

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/mercer-fl/mercer/transport"
)

// These constants limit the deliveries and bytes of one request to a queue. The server sends
// heartbeats while there are no deliveries. A batch must arrive well within AckWait: 2 MiB in 30 s
// are half a megabit per second.
const (
	batchMessages = 256
	batchBytes    = 2 << 20
	// inboxRoom is the number of deliveries that can wait in an inbox. It is enough for several requests: those that
	// have not expired when a server answers again after a silence. Beyond it, deliveries come again after AckWait.
	// The client allocates the room at once; its default, for 65,536 deliveries, would take half a megabyte a lane.
	inboxRoom    = 8 * batchMessages
	requestLimit = 30 * time.Second
	heartbeat    = 5 * time.Second
	resetLimit   = 2 * time.Second
)

// inbox receives the deliveries of one lane. It drops the deliveries that it still holds when
// the connection is lost. The reset at the start of the next connection repeats them.
type inbox struct {
	*conn
	lane transport.Lane
	turn chan struct{} // semaphore that admits one caller of Receive at a time

	era       context.Context
	sub       *natsgo.Subscription
	box       string // random name of the inbox, different for each connection of a member
	request   int    // number of the current request
	remaining int    // number of deliveries that the current request can still bring; 0 requires a new request
}

// requestSuffix returns the end of the subject that identifies the current request.
func (i *inbox) requestSuffix() string { return i.box + "." + strconv.Itoa(i.request) }

// Receive serves one caller at a time in each lane. Other callers wait for their turn.
func (c *conn) Receive(ctx context.Context, lane transport.Lane) (transport.Delivery, error) {
	d, err := c.inboxes[lane].receive(ctx)
	if err != nil {
		return transport.Delivery{}, fmt.Errorf("nats: %q cannot receive: %w", c.name, err)
	}
	return d, nil
}

func (i *inbox) receive(ctx context.Context) (transport.Delivery, error) {
	select {
	case i.turn <- struct{}{}:
		defer func() { <-i.turn }()
	case <-ctx.Done():
		return transport.Delivery{}, ctx.Err()
	}
	for failures := 0; ; {
		era, err := i.link.wait(ctx)
		if err != nil {
			return transport.Delivery{}, err
		}
		d, ok, err := i.next(ctx, era)
		if ok {
			return d, nil
		}
		if err == nil {
			failures = 0
			continue
		}
		i.log.Debug("no delivery; asking again", "member", i.name, "lane", i.lane.String(), "error", err)
		pause(ctx, era, failures)
		failures++
	}
}

// next waits for one message of the inbox. It returns false without an error if the message is
// not a delivery, or if no message came: ctx ended, the connection was lost, or the server was silent.
func (i *inbox) next(ctx, era context.Context) (d transport.Delivery, ok bool, err error) {
	if i.era != era {
		if err := i.open(ctx, era); err != nil {
			return d, false, err
		}
	}
	if i.remaining == 0 {
		if err := i.ask(); err != nil {
			return d, false, err
		}
	}
	quiet, cancel := within(ctx, era, i.silence)
	defer cancel()
	m, err := i.sub.NextMsgWithContext(quiet)
	switch {
	case err != nil && quiet.Err() != nil: // ctx has ended, the connection is lost, or the server does not answer
		i.remaining = 0
		return d, false, nil
	case err != nil:
		i.remaining = 0
		return d, false, err
	case m.Reply == "": // m is a status of the server, because a delivery has a reply subject
		return d, false, i.heed(m)
	}
	i.remaining--
	d, ok = i.accept(m)
	return d, ok, nil
}

// open starts the inbox of a new connection. It resets the queue, so that the server repeats at
// once the messages that the last connection left unsettled. Without a reset the server repeats
// them after AckWait.
func (i *inbox) open(ctx, era context.Context) error {
	if err := i.announceProcess(ctx, era); err != nil {
		return err
	}
	if i.sub != nil {
		if err := i.sub.Unsubscribe(); err != nil {
			i.sub = nil
			return err
		}
	}
	box := rand.Text()
	sub, err := i.nc.SubscribeSync(boxSubject(i.name, box+".*"))
	if err != nil {
		return err
	}
	i.sub, i.box, i.request, i.remaining = sub, box, 0, 0
	limited, cancel := within(ctx, era, resetLimit)
	defer cancel()
	if _, err := i.js.ResetConsumer(limited, stream(i.lane), i.name); err != nil {
		if ctx.Err() != nil || era.Err() != nil {
			return err
		}
		i.log.Debug("unsettled deliveries come again later", "member", i.name, "error", err)
	}
	i.era = era
	return nil
}

// ask requests the next deliveries from the steward, a client in the server's process.
func (i *inbox) ask() error {
	i.request++
	if err := i.nc.Publish(askSubject(i.lane, i.name, i.requestSuffix()), nil); err != nil {
		return err
	}
	i.remaining = batchMessages
	return nil
}

// heed handles a status of the server about the current request. Status 100 says that the request
// still waits, 408 that its time is over, and 409 that it has reached one of its limits. If the
// request ended for any other reason, heed returns an error, and the caller pauses before the next
// request.
func (i *inbox) heed(m *natsgo.Msg) error {
	status, text := m.Header.Get("Status"), m.Header.Get("Description")
	if status == "100" || m.Subject != boxSubject(i.name, i.requestSuffix()) {
		return nil
	}
	i.remaining = 0
	if status == "408" || m.Header.Get("Nats-Pending-Messages") != "" {
		return nil
	}
	return fmt.Errorf("the server ended the request: %s %s", status, text)
}

// accept returns the delivery for a message from the queue. The server is not trusted: accept
// ignores messages to other members, and messages whose acknowledgement would not settle a
// delivery.
func (i *inbox) accept(m *natsgo.Msg) (transport.Delivery, bool) {
	from, ours := sender(i.lane, m.Subject, i.name)
	times, ackable := deliveries(i.lane, m.Reply, i.name)
	if !ours || !ackable || len(m.Data) > transport.MaxMessageBytes {
		i.log.Warn("ignored a delivery that is not for this member", "member", i.name, "subject", m.Subject, "bytes", len(m.Data))
		return transport.Delivery{}, false
	}
	return transport.Delivery{Data: m.Data, From: from, Receipt: receipt{i.conn, m.Reply, times}}, true
}

// deliveries returns how often a message was delivered. It reads the number from the subject of
// the acknowledgement, $JS.ACK.STREAM.CONSUMER.<deliveries>.<...>.
func deliveries(lane transport.Lane, ack, self string) (int, bool) {
	rest, ok := strings.CutPrefix(ack, ackPrefix(lane, self))
	if !ok {
		return 0, false
	}
	count, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(count)
	return n, err == nil && n > 0
}

// sender returns the sender's name in the subject subj of a delivery to the member self.
func sender(lane transport.Lane, subj, self string) (string, bool) {
	rest, ok := strings.CutPrefix(subj, "mercer."+laneWord(lane)+".")
	if !ok {
		return "", false
	}
	from, to, ok := strings.Cut(rest, ".")
	return from, ok && to == self && from != ""
}

// receipt acknowledges a delivery or puts it back. The answer goes to the subject reply, which came
// with the delivery.
type receipt struct {
	conn  *conn
	reply string
	times int // number of deliveries so far
}

func (r receipt) Ack() error { return r.settle("+ACK") }

func (r receipt) Later(delay time.Duration) error {
	if delay = slower(delay, r.times); delay > 0 {
		return r.settle(fmt.Sprintf(`-NAK {"delay": %d}`, delay.Nanoseconds()))
	}
	return r.settle("-NAK")
}

// slower doubles a delay with every delivery after the first, up to five seconds. Each
// repetition costs the whole length of a message that a busy receiver puts back. The delay is
// about as long as all delays so far.
func slower(delay time.Duration, times int) time.Duration {
	const most = 5 * time.Second
	for n := 1; n < times && 0 < delay && delay < most; n++ {
		delay = min(2*delay, most)
	}
	return delay
}

func (r receipt) settle(word string) error {
	err := r.conn.nc.Publish(r.reply, []byte(word))
	if errors.Is(err, natsgo.ErrConnectionClosed) {
		err = transport.ErrClosed
	}
	if err != nil {
		return fmt.Errorf("nats: %q cannot settle a delivery: %w", r.conn.name, err)
	}
	return nil
}

// stream returns the name of a lane's stream. The stream's consumers have the members' names.
func stream(lane transport.Lane) string {
	if lane == transport.Control {
		return "CONTROL"
	}
	return "MERCER"
}

// laneWord returns the word for a lane in subjects.
func laneWord(lane transport.Lane) string {
	if lane == transport.Control {
		return "ctl"
	}
	return "msg"
}

// subject returns the subject of a member's message. The subject names sender and receiver, and the
// server checks both names. All other content is in the sealed body.
func subject(lane transport.Lane, from, to string) string {
	return "mercer." + laneWord(lane) + "." + from + "." + to
}
func askSubject(lane transport.Lane, member, box string) string {
	return "mercer.ask." + laneWord(lane) + "." + member + "." + box
}
func boxSubject(member, box string) string { return "mercer.box." + member + "." + box }

func ackPrefix(lane transport.Lane, member string) string {
	return "$JS.ACK." + stream(lane) + "." + member + "."
}
func twinSubject(member string) string { return "mercer.twin." + member }
func replyPrefix(member string) string { return "_INBOX." + member }

// box returns the name of the inbox in the subject of a member's request for deliveries.
func box(lane transport.Lane, member, subj string) string {
	return strings.TrimPrefix(subj, askSubject(lane, member, ""))
}

const maxNameBytes = 64

// checkName returns an error unless s has 1 to 64 lower-case letters, digits and hyphens, with no hyphen
// first. Such a name can be a token of a subject and the name of a folder.
func checkName(s string) error {
	if s == "" || len(s) > maxNameBytes {
		return fmt.Errorf("a member's name must have 1 to %d bytes, not %d", maxNameBytes, len(s))
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !letter && (c != '-' || i == 0) {
			return fmt.Errorf("the member name %q is not valid; use only lower-case letters, digits and hyphens, and no hyphen first", s)
		}
	}
	return nil
}

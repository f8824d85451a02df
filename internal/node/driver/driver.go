package driver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// ErrInterrupted is wrapped by an error that leaves the session open: its
// journal is intact and another Run resumes it.
var ErrInterrupted = errors.New("driver: interrupted; the session can be resumed")

// Mail is the session's verified side of a transport.
type Mail interface {
	// Send seals m freshly and returns once the transport has taken it.
	Send(ctx context.Context, m protocol.Message) error
	// In delivers verified messages of this session. If it is closed no more will come, and the session
	// continues as far as it needs none.
	In() <-chan Inbound
}

// Inbound is a verified message with its receipt.
type Inbound struct {
	Message protocol.Message
	// Fault, if set, explains why a message that its sender did sign cannot be used; then only the
	// Message's header is set.
	Fault error
	transport.Receipt
}

// Log is the session's journal.
type Log interface {
	Append(journal.Record) error
	Sync() error
}

// Ledger holds the names that can be claimed only once.
type Ledger interface {
	Claim(session protocol.SessionID, names ...string) error
}

// Config is the input of one session. All fields but Progress are required.
type Config struct {
	Session   *protocol.Session
	Machine   protocol.Machine // fresh: Run replays Records into it
	InputHash [32]byte
	Records   iter.Seq2[journal.Record, error] // the journal so far
	Log       Log
	Ledger    Ledger
	Mail      Mail
	// Timeout returns a timer's duration.
	Timeout  func(protocol.Timer) time.Duration
	Progress func(protocol.Progress)
	Logger   *slog.Logger
}

// Run drives the session to its end. A nil error means that the machine ended with a result, which is
// read from the machine. Traffic counts the bytes that this process sent and received.
func Run(ctx context.Context, c Config) (Traffic, error) {
	d := newDriver(c)
	err := d.replay(ctx)
	if err == nil && !d.sealed {
		err = d.run(ctx)
	}
	if err != nil {
		return d.traffic, d.abort(err)
	}
	return d.traffic, d.outcome()
}

// Replay rebuilds an ended session's machine from its journal, and sends nothing. It returns an
// error where Run would abort the session.
func Replay(m protocol.Machine, input [32]byte, records iter.Seq2[journal.Record, error]) error {
	d := newDriver(Config{Machine: m, InputHash: input, Records: records})
	if err := d.replay(context.Background()); err != nil {
		return err
	}
	if d.end == nil {
		return errors.New("driver: the journal stops before the session's end")
	}
	return d.end.Err
}

// Traffic counts the bodies of messages in bytes, without the envelope.
type Traffic struct{ Sent, Received int64 }

type driver struct {
	Config
	inbox    protocol.Inbox
	outbox   *outbox
	timers   *timers
	unacked  []Inbound // handled and not acknowledged; without their bodies
	claims   []string  // of the replayed steps
	refused  map[string]error
	refusals tally.Tally // by sender
	resume   bool        // the machine has more to do
	deaf     bool        // no more messages will come
	granted  chan struct{}
	started  bool
	end      *protocol.End
	sealed   bool // the journal holds the outcome
	traffic  Traffic
}

func newDriver(c Config) *driver {
	d := &driver{Config: c, outbox: newOutbox(), timers: newTimers(), refused: make(map[string]error), granted: make(chan struct{})}
	close(d.granted) // always ready, so that select weighs Resumed against other events
	return d
}

func newOutbox() *outbox {
	return &outbox{pending: make(chan protocol.Message, 1), sent: make(chan error, 1)}
}

func newTimers() *timers {
	return &timers{clocks: make(map[protocol.Timer]*clock), fired: make(chan *clock), over: make(chan struct{})}
}

// run accepts events until the machine ends and the transport has taken every message.
func (d *driver) run(ctx context.Context) error {
	// A crash may have come between the journal and the ledger.
	if err := d.claim(d.claims); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer d.timers.stop()
	d.timers.start(d.Timeout)
	d.outbox.start(ctx, d.Mail)
	defer d.outbox.wait()
	defer stop() // before wait: the sender must not outlive run

	if !d.started {
		if err := d.accept(protocol.Start{InputHash: d.InputHash}, nil); err != nil {
			return err
		}
	}
	for d.end == nil || !d.outbox.empty() {
		if err := d.next(ctx); err != nil {
			return err
		}
	}
	return d.settle()
}

// next waits for one event and handles it.
func (d *driver) next(ctx context.Context) error {
	if ctx.Err() != nil {
		return Interrupted(ctx)
	}
	in := d.Mail.In()
	if d.deaf || d.outbox.full() {
		in = nil // a slow network must not fill our memory
	}
	if len(d.unacked) > 0 && (len(d.unacked) >= maxUnacked || len(in) == 0) {
		if err := d.settle(); err != nil {
			return err
		}
	}
	var resume <-chan struct{}
	if d.resume && d.end == nil && d.outbox.room() {
		resume = d.granted
	}
	if d.deaf && d.end == nil && resume == nil && d.outbox.empty() {
		return fmt.Errorf("%w: the transport closed", ErrInterrupted)
	}
	select {
	case <-ctx.Done():
		return Interrupted(ctx)
	case m, open := <-in:
		if !open {
			d.deaf = true
			return nil
		}
		return d.receive(m)
	case c := <-d.timers.fired:
		return d.expire(c)
	case <-resume:
		return d.accept(protocol.Resumed{}, nil)
	case err := <-d.outbox.sent:
		return d.delivered(err)
	}
}

// Interrupted returns the error of a session whose context has ended: the error that blames a member,
// if the session was aborted, or one that wraps [ErrInterrupted], if the daemon shuts down.
func Interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	var blame *protocol.BlameError
	if errors.As(cause, &blame) {
		return cause
	}
	return interrupt(cause)
}

// interrupt marks a failure of this process or its surroundings, after which the session can continue.
func interrupt(err error) error { return fmt.Errorf("%w: %w", ErrInterrupted, err) }

// receive offers one message to the machine.
func (d *driver) receive(in Inbound) error {
	m := in.Message
	if in.Fault != nil {
		d.refuse(in, in.Fault)
		return nil //nolint:nilerr // the sender's fault ends no session
	}
	fresh, err := d.inbox.Fresh(m)
	if err != nil {
		return err // equivocation ends the session
	}
	if !fresh || d.end != nil {
		d.acknowledge(in)
		return nil
	}
	err = d.accept(protocol.Received{Message: m}, &in)
	switch {
	case errors.Is(err, protocol.ErrLater):
		if err := in.Later(laterDelay); err != nil {
			d.Logger.Warn("could not put a message back; it will come again", "message", m.Header.String(), "error", err)
		}
		return nil
	case isRefusal(err):
		d.refuse(in, err)
		return nil
	}
	return err
}

func isRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// refuse remembers the first refusal of each peer, which explains a later silence of the peer.
func (d *driver) refuse(in Inbound, err error) {
	sender := in.Message.Sender
	if n, tell := d.refusals.Count("", sender); tell { // the sender decides their number
		d.Logger.Warn("refused a message", "message", in.Message.Header.String(), "times", n, "error", err)
	}
	if _, known := d.refused[sender]; !known {
		d.refused[sender] = err
	}
	d.acknowledge(in)
}

// expire tells the machine that a timer has expired, after the messages that wait already: their
// senders are not silent.
func (d *driver) expire(c *clock) error {
	for range len(d.Mail.In()) {
		if d.outbox.full() {
			break
		}
		if err := d.receive(<-d.Mail.In()); err != nil {
			return err
		}
	}
	if d.end != nil || !d.timers.expired(c) {
		return nil
	}
	return d.accept(protocol.Expired{Timer: c.name}, nil)
}

func (d *driver) delivered(err error) error {
	if err != nil {
		return err
	}
	d.traffic.Sent += d.outbox.pop()
	if err := d.Log.Append(journal.Record{Delivered: 1}); err != nil {
		return interrupt(err)
	}
	return nil
}

const (
	// maxUnacked bounds the messages that share one wait for the disk.
	maxUnacked = 64
	laterDelay = 50 * time.Millisecond
)

// outcome journals the machine's own verdict and returns it.
func (d *driver) outcome() error {
	err := d.explain(d.end.Err)
	if sealing := d.seal(err); sealing != nil {
		return interrupt(errors.Join(sealing, err))
	}
	return err
}

// abort journals err as the outcome, unless it is an interruption. If the machine had ended with an
// error of its own, that error comes first.
func (d *driver) abort(err error) error {
	if errors.Is(err, ErrInterrupted) {
		return err
	}
	if d.end != nil && d.end.Err != nil {
		err = errors.Join(d.explain(d.end.Err), err)
	}
	return errors.Join(err, d.seal(err))
}

// seal writes the session's last record.
func (d *driver) seal(outcome error) error {
	if d.sealed {
		return nil
	}
	text := "done"
	if outcome != nil {
		text = outcome.Error()
	}
	err := d.Log.Append(journal.Record{Ended: text})
	if err == nil {
		err = d.Log.Sync()
	}
	if err != nil {
		return fmt.Errorf("driver: the outcome could not be journalled: %w", err)
	}
	return nil
}

// explain adds to "south is silent" the reason why an earlier message of south was refused.
func (d *driver) explain(err error) error {
	var silent, earlier *protocol.BlameError
	if !errors.As(err, &silent) || silent.Kind != protocol.KindSilent {
		return err
	}
	why, known := d.refused[silent.Party]
	switch {
	case !known:
		return err
	case errors.As(why, &earlier):
		return fmt.Errorf("%w; then the member went silent", why)
	}
	return fmt.Errorf("%w; an earlier message from it was refused: %w", err, why)
}

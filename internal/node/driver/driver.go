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
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// ErrInterrupted is part of an error that leaves the session open. The journal is intact, and
// another Run resumes the session.
var ErrInterrupted = errors.New("driver: interrupted; the session can be resumed")

// Mail sends and receives the messages of one session. Received messages are verified, except those that a
// device receives from its server (package devices).
type Mail interface {
	// Send sends a message and returns when the transport has accepted it. It seals the message
	// anew in each call.
	Send(ctx context.Context, m protocol.Message) error
	// In returns the channel of this session's received messages. If the channel is closed, no more
	// messages will come, and the session continues as far as it can without them.
	In() <-chan Inbound
}

// Inbound is a received message of a [Mail]. Its receipt acknowledges it to the transport.
type Inbound struct {
	Message protocol.Message
	// Fault, if not nil, explains why the message must be refused although its signature is valid.
	// Then only the Message's header is set.
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

// Config holds the inputs of one session. All fields but Progress are required.
type Config struct {
	Session   *protocol.Session
	Machine   protocol.Machine // a new machine; Run first replays Records with it
	InputHash [32]byte
	Records   iter.Seq2[journal.Record, error] // records that the journal contains before Run
	Log       Log
	Ledger    Ledger
	Mail      Mail
	// Timeout returns the duration of a timer.
	Timeout  func(protocol.Timer) time.Duration
	Progress func(protocol.Progress)
	Logger   *slog.Logger
}

// Run drives the session to its end. If the error is nil, the machine ended with a result, which
// the caller reads from the machine. Traffic counts the bytes that this process sent and received.
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

// Replay rebuilds the machine of an ended session from its journal, and sends nothing. It returns
// an error if the replay fails, if the journal stops before the machine's end, or if the machine
// ended with an error.
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

// Traffic counts the bytes of messages' bodies, without envelopes.
type Traffic struct{ Sent, Received int64 }

type driver struct {
	Config
	inbox    protocol.Inbox
	outbox   *outbox
	timers   *timers
	unacked  []Inbound // handled messages that wait for acknowledgement, without their bodies
	claims   []string  // names that the replayed steps claim
	refused  map[string]error
	refusals tally.Tally // counts refused messages by sender
	resume   bool        // the machine has more to compute or send
	deaf     bool        // the transport is closed, so no more messages will come
	granted  chan struct{}
	started  bool
	end      *protocol.End
	sealed   bool // the journal contains the outcome
	traffic  Traffic
}

func newDriver(c Config) *driver {
	d := &driver{Config: c, outbox: newOutbox(), timers: newTimers(), refused: make(map[string]error), granted: make(chan struct{})}
	close(d.granted) // a closed channel is always ready, so select can choose Resumed like other events
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
	// Claim the names again, because a crash may have prevented the claim after the step was
	// journalled.
	if err := d.claim(d.claims); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer d.timers.stop()
	d.timers.start(d.Timeout)
	d.outbox.start(ctx, d.Mail)
	defer d.outbox.wait()
	defer stop() // stop the sender before the deferred wait waits for it

	if !d.started {
		if err := d.accept(protocol.Start{InputHash: d.InputHash}, nil); err != nil {
			return err
		}
	}
	for d.end == nil || !d.outbox.empty() {
		if err := d.handleNext(ctx); err != nil {
			return err
		}
	}
	return d.settle()
}

// handleNext waits for one event and handles it.
func (d *driver) handleNext(ctx context.Context) error {
	if ctx.Err() != nil {
		return Interrupted(ctx)
	}
	in := d.Mail.In()
	if d.deaf || d.outbox.full() {
		in = nil // do not read, because the answers that wait for a slow network would fill the memory
	}
	if len(d.unacked) > 0 && (len(d.unacked) >= maxUnacked || len(in) == 0) {
		if err := d.settle(); err != nil {
			return err
		}
	}
	var resume <-chan struct{}
	if d.resume && d.end == nil && d.outbox.hasRoom() {
		resume = d.granted
	}
	if d.deaf && d.end == nil && resume == nil && d.outbox.empty() {
		return fmt.Errorf("%w: the transport has closed", ErrInterrupted)
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

// Interrupted returns the error of a session whose context has ended. If the context's cause blames
// a member, as after an abort, Interrupted returns the cause. Otherwise, as when the daemon shuts
// down, the error wraps [ErrInterrupted].
func Interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	var blame *protocol.BlameError
	if errors.As(cause, &blame) {
		return cause
	}
	return interrupt(cause)
}

// interrupt marks an error as a failure of this process or its surroundings. The session can
// continue later.
func interrupt(err error) error { return fmt.Errorf("%w: %w", ErrInterrupted, err) }

// receive offers one message to the machine.
func (d *driver) receive(in Inbound) error {
	m := in.Message
	if in.Fault != nil {
		d.refuse(in, in.Fault)
		return nil //nolint:nilerr // the sender's fault ends no session
	}
	fresh, err := d.inbox.Fresh(m)
	switch { // an error means that the sender has sent two different messages with one header, which ends most sessions
	case err != nil && protocol.MustGoOn(d.Machine):
		d.refuse(in, err)
		return nil
	case err != nil:
		return err
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
	case errors.Is(err, protocol.ErrPast):
		d.acknowledge(in)
		return nil
	case isRefusal(err):
		d.refuse(in, err)
		return nil
	}
	return err
}

func isRefusal(err error) bool {
	var r refusedEvent
	return errors.As(err, &r)
}

// refuse logs and acknowledges a refused message. It keeps the first refusal of each peer, because
// this refusal can explain why the peer is silent later.
func (d *driver) refuse(in Inbound, err error) {
	sender := in.Message.Sender
	if n, tell := d.refusals.Count("", sender); tell { // do not log every refusal, because the sender decides how many there are
		d.Logger.Warn("refused a message", "message", in.Message.Header.String(), "times", n, "error", err)
	}
	if _, known := d.refused[sender]; !known {
		d.refused[sender] = err
	}
	d.acknowledge(in)
}

// expire tells the machine that a timer has expired. It first handles the messages that have already
// arrived, because their senders are not silent.
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
	// maxUnacked is the number of messages without acknowledgement from which on the driver flushes the
	// journal before it takes the next event.
	maxUnacked = 64
	laterDelay = 50 * time.Millisecond
)

// outcome writes the machine's own outcome to the journal and returns it.
func (d *driver) outcome() error {
	err := d.explain(d.end.Err)
	if sealing := d.seal(err); sealing != nil {
		return interrupt(errors.Join(sealing, err))
	}
	return err
}

// abort writes err to the journal as the outcome, unless err is an interruption. If the machine has
// ended with an error of its own, the outcome names that error before err.
func (d *driver) abort(err error) error {
	if errors.Is(err, ErrInterrupted) {
		return err
	}
	if d.end != nil && d.end.Err != nil {
		err = errors.Join(d.explain(d.end.Err), err)
	}
	return errors.Join(err, d.seal(err))
}

// seal writes the session's outcome as the journal's last record.
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

// explain completes an error that blames a silent member. It adds why an earlier message of the
// member was refused.
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
	return fmt.Errorf("%w; an earlier message from this member was refused: %w", err, why)
}

// AllowAnew stores in a session, before its machine runs, what the session needs to begin anew if its journal is lost
// ([vault.AllowAnew]). Its errors are of the kinds that Run returns.
func AllowAnew(s vault.Session, m protocol.Machine, input [32]byte) error {
	switch err := vault.AllowAnew(s, m, input); {
	case errors.Is(err, vault.ErrInput):
		return ErrInputChanged
	case err != nil:
		return interrupt(err)
	}
	return nil
}

package devices

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

// deviceMail is the [driver.Mail] of a device in one session.
type deviceMail struct {
	line    *line
	step    int
	session protocol.SessionID
	ended   func() bool            // reports whether the machine has ended
	leaves  func(kind string) bool // reports whether the device vanishes before a message of this kind
	leave   context.CancelCauseFunc

	mu     sync.RWMutex // guards the closing of the channel in
	in     chan driver.Inbound
	closed bool  // true once the channel in is closed
	over   error // the reason why the session has ended at the server, or nil
}

// errVanished is the reason for the end of a simulated device that vanishes.
var errVanished = errors.New("devices: the device has vanished, as configured")

// Send implements [driver.Mail]. If the session has ended at the server and the machine has ended
// here, Send returns no error: the message arrived before, or nobody needs it.
func (d *deviceMail) Send(ctx context.Context, m protocol.Message) error {
	if d.leaves(m.Kind) {
		d.leave(errVanished)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err := d.line.post(ctx, d.step, m)
	switch {
	case errors.Is(err, errMoved) && d.ended():
		return nil
	case errors.Is(err, errMoved):
		d.note(err)
		return fmt.Errorf("%w: %w", transport.ErrClosed, err)
	}
	return err
}

// In implements [driver.Mail].
func (d *deviceMail) In() <-chan driver.Inbound { return d.in }

// fetch receives messages until ctx ends. If the session has ended at the server, fetch closes the
// mail. The machine then continues with the messages that it has.
func (d *deviceMail) fetch(ctx context.Context) error {
	var later sync.WaitGroup
	defer later.Wait()
	for after := 0; ; {
		list, err := d.line.pull(ctx, d.step, d.session, after)
		switch {
		case errors.Is(err, errMoved):
			d.close(err)
			return nil
		case err != nil:
			return err
		}
		for _, m := range list {
			p := &pulled{ctx: ctx, mail: d, waiting: &later}
			p.Message, p.Receipt = m, p
			if !p.push() {
				return context.Cause(ctx)
			}
		}
		after += len(list)
	}
}

// close ends the mail. The machine still gets the messages that the mail contains.
func (d *deviceMail) close(why error) {
	d.note(why)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	close(d.in)
}

func (d *deviceMail) note(why error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = why
}

// why returns the reason why the session has ended at the server, or nil if it has not ended.
func (d *deviceMail) why() error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.over
}

// pulled is a message that a device has received from the server. The server keeps it until the
// session ends, so there is nothing to acknowledge.
type pulled struct {
	driver.Inbound
	ctx     context.Context
	mail    *deviceMail
	waiting *sync.WaitGroup
}

// push passes the message to the machine, unless the session has ended.
func (p *pulled) push() bool {
	p.mail.mu.RLock()
	defer p.mail.mu.RUnlock()
	if p.mail.closed {
		return false
	}
	select {
	case p.mail.in <- p.Inbound:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// Ack implements [transport.Receipt].
func (*pulled) Ack() error { return nil }

// Later implements [transport.Receipt].
func (p *pulled) Later(delay time.Duration) error {
	p.waiting.Go(func() {
		select {
		case <-time.After(delay):
			p.push()
		case <-p.ctx.Done():
		}
	})
	return nil
}

// drive runs a machine to its end. If the machine's journal is complete, drive needs no server.
func (d *Device) drive(ctx context.Context, i int, next *method.Session, opened *protocol.Session, kept vault.Session, run *method.Run) error {
	machine := &turned{Machine: run.Machine, turns: d.Turns}
	whole, err := sealed(kept)
	if err != nil {
		return err
	}
	if whole {
		return driver.Replay(machine, run.InputHash, kept.Records())
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	mail := &deviceMail{
		line: d.line, step: i, session: opened.ID(), in: make(chan driver.Inbound, room), leave: leave, ended: machine.ended.Load,
		leaves: func(kind string) bool { return d.Leaves != nil && d.Leaves(d.plan[i].Name, kind) },
	}
	fetched, fetching := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := mail.fetch(fetched); err != nil && fetched.Err() == nil {
			leave(err) // stop the machine, because it will receive no more messages
		}
	}()
	_, err = driver.Run(ctx, driver.Config{
		Session: opened, Machine: machine, InputHash: run.InputHash, Records: kept.Records(), Log: kept, Ledger: d.Vault, Mail: mail,
		Timeout: func(t protocol.Timer) time.Duration {
			return max(next.Timeout(t, d.Enrolment.Job.Timeout.Round), d.Patience)
		}, Logger: d.Logger,
	})
	fetching(nil)
	<-done
	switch why := mail.why(); {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w: %w", driver.ErrInterrupted, context.Cause(ctx))
	case errors.Is(err, driver.ErrInterrupted) && why != nil:
		return why
	}
	return err
}

// sealed reports whether a session's journal is complete up to the session's end.
func sealed(kept vault.Session) (bool, error) {
	for r, err := range kept.Records() {
		if err != nil || r.Ended != "" {
			return err == nil, err
		}
	}
	return false, nil
}

// turned is a machine that waits for its turn before it computes. It also records when it has
// ended.
type turned struct {
	protocol.Machine
	turns chan struct{}
	ended atomic.Bool
}

// Step implements [protocol.Machine].
func (t *turned) Step(e protocol.Event) (protocol.Effects, error) {
	if t.turns != nil {
		t.turns <- struct{}{}
		defer func() { <-t.turns }()
	}
	effects, err := t.Machine.Step(e)
	if err == nil && effects.End != nil {
		t.ended.Store(true)
	}
	return effects, err
}

// post sends a message to the server. It returns nil when the message is on the server's disk, or when
// the server's machine has refused it.
func (l *line) post(ctx context.Context, step int, m protocol.Message) error {
	_, _, err := l.ask(ctx, http.MethodPost, messagesPath, sessionQuery(step, m.Session), encode(m))
	return err
}

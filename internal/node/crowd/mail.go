package crowd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
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
	in      chan driver.Inbound
	leaves  func(kind string) bool // before a message of this kind
	leave   context.CancelCauseFunc
}

// errVanished is the cause by which a device of a rehearsal goes.
var errVanished = errors.New("crowd: the device vanishes, as it was told")

// Send implements [driver.Mail].
func (d *deviceMail) Send(ctx context.Context, m protocol.Message) error {
	if d.leaves(m.Kind) {
		d.leave(errVanished)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	err := d.line.post(ctx, d.step, m)
	if errors.Is(err, errMoved) {
		return fmt.Errorf("%w: %w", transport.ErrClosed, err)
	}
	return err
}

// In implements [driver.Mail].
func (d *deviceMail) In() <-chan driver.Inbound { return d.in }

// fetch brings messages until ctx ends, or the session is over at the server.
func (d *deviceMail) fetch(ctx context.Context) error {
	var later sync.WaitGroup
	defer later.Wait()
	for after := 0; ; {
		list, err := d.line.pull(ctx, d.step, d.session, after)
		if err != nil {
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

// pulled is a message that lies at the server until the session ends: there is nothing to
// acknowledge.
type pulled struct {
	driver.Inbound
	ctx     context.Context
	mail    *deviceMail
	waiting *sync.WaitGroup
}

func (p *pulled) push() bool {
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

// drive runs a machine to its end.
func (d *Device) drive(ctx context.Context, i int, next *method.Session, opened *protocol.Session, kept vault.Session, run *method.Run) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	mail := &deviceMail{line: d.line, step: i, session: opened.ID(), in: make(chan driver.Inbound, room), leave: leave, leaves: func(kind string) bool {
		return d.Leaves != nil && d.Leaves(d.plan[i].Name, kind)
	}}
	fetched, fetching := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := mail.fetch(fetched); err != nil && fetched.Err() == nil {
			leave(err) // nothing more will come
		}
	}()
	_, err := driver.Run(ctx, driver.Config{
		Session: opened, Machine: turned{run.Machine, d.Turns}, InputHash: run.InputHash, Records: kept.Records(), Log: kept, Ledger: d.Vault, Mail: mail,
		Timeout: func(t protocol.Timer) time.Duration {
			return max(next.Timeout(t, d.Enrolment.Job.Timeout.Round), d.Patience)
		}, Logger: d.Logger,
	})
	fetching(nil)
	<-done
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", driver.ErrInterrupted, context.Cause(ctx))
	}
	return err
}

// turned is a machine that waits for its turn to compute.
type turned struct {
	protocol.Machine
	turns chan struct{}
}

// Step implements [protocol.Machine].
func (t turned) Step(e protocol.Event) (protocol.Effects, error) {
	if t.turns != nil {
		t.turns <- struct{}{}
		defer func() { <-t.turns }()
	}
	return t.Machine.Step(e)
}

// post sends one message. It returns when the server has it on its disk.
func (l *line) post(ctx context.Context, step int, m protocol.Message) error {
	_, _, err := l.ask(ctx, http.MethodPost, messagesPath, about(step, m.Session), encode(m))
	return err
}

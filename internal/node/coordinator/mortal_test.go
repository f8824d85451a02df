package coordinator_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
)

var errDead = errors.New("the process is dead")

// life ends a process at one of the operations by which it changes the world:
// that operation and all that follow do not happen.
type life struct {
	dies func(op string) bool // asked before each operation
	stop func()

	mu   sync.Mutex
	over bool
}

func (l *life) dead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// do runs one operation, unless the process is dead or dies of it.
func (l *life) do(op string, f func() error) error {
	l.mu.Lock()
	if !l.over && l.dies(op) {
		l.over = true
		l.stop()
	}
	over := l.over
	l.mu.Unlock()
	if over {
		return errDead
	}
	return f()
}

type mortalConn struct {
	transport.Conn
	life *life
}

func (c mortalConn) Send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	return c.life.do("send "+kindOf(data), func() error { return c.Conn.Send(ctx, to, lane, data) })
}

func (c mortalConn) Receive(ctx context.Context, lane transport.Lane) (transport.Delivery, error) {
	d, err := c.Conn.Receive(ctx, lane)
	if err == nil {
		d.Receipt = mortalReceipt{d.Receipt, c.life, kindOf(d.Data)}
	}
	return d, err
}

type mortalReceipt struct {
	transport.Receipt
	life *life
	kind string
}

func (r mortalReceipt) Ack() error { return r.life.do("ack "+r.kind, r.Receipt.Ack) }

func (r mortalReceipt) Later(delay time.Duration) error {
	if r.life.dead() {
		return errDead // not an operation that a death could come before
	}
	return r.Receipt.Later(delay)
}

func kindOf(data []byte) string {
	h, err := envelope.Peek(data)
	if err != nil {
		return "?"
	}
	return h.Protocol + "/" + h.Kind
}

type mortalVault struct {
	vault.Vault
	life *life
}

func (v mortalVault) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (s vault.Session, err error) {
	err = v.life.do("create", func() error {
		s, err = v.Vault.Create(id, seed, proposal)
		return err
	})
	if err != nil {
		return nil, err
	}
	return mortalSession{s, v.life}, nil
}

func (v mortalVault) Open() ([]vault.Session, []vault.Lost, error) {
	open, lost, err := v.Vault.Open()
	for i, s := range open {
		open[i] = mortalSession{s, v.life}
	}
	return open, lost, err
}

func (v mortalVault) Claim(id protocol.SessionID, names ...string) error {
	return v.life.do("claim", func() error { return v.Vault.Claim(id, names...) })
}

type mortalSession struct {
	vault.Session
	life *life
}

func (s mortalSession) Put(name vault.Document, data []byte) error {
	return s.life.do("put "+string(name), func() error { return s.Session.Put(name, data) })
}

func (s mortalSession) Append(r journal.Record) error {
	return s.life.do("append", func() error { return s.Session.Append(r) })
}

func (s mortalSession) Sync() error { return s.life.do("sync", s.Session.Sync) }

func (s mortalSession) Destroy(outcome string) error {
	return s.life.do("destroy", func() error { return s.Session.Destroy(outcome) })
}

func (s mortalSession) Records() iter.Seq2[journal.Record, error] { return s.Session.Records() }

// noted is a vault that tells the test what sessions are opened by.
type noted struct {
	vault.Vault
	w *testbed
}

func (v noted) Create(id protocol.SessionID, seed [32]byte, proposal []byte) (vault.Session, error) {
	v.w.mu.Lock()
	note := v.w.noted
	v.w.mu.Unlock()
	if note != nil {
		note(proposal)
	}
	return v.Vault.Create(id, seed, proposal)
}

// tap records what an observer of the network sees.
type tap struct {
	mu   sync.Mutex
	seen []recorded
}

type recorded struct {
	from, to string
	data     []byte
}

func (t *tap) all() []recorded {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.seen)
}

type tapped struct {
	transport.Conn
	name string
	tap  *tap
	w    *testbed
}

func (c tapped) Send(ctx context.Context, to string, lane transport.Lane, data []byte) error {
	c.tap.mu.Lock()
	c.tap.seen = append(c.tap.seen, recorded{c.name, to, slices.Clone(data)})
	c.tap.mu.Unlock()
	if c.w.lost(to, kindOf(data)) {
		return nil
	}
	return c.Conn.Send(ctx, to, lane, data)
}

// lost reports whether a message never arrives: the broker's queues are gone, or it was
// too old for them.
func (w *testbed) lost(to, kind string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.loses != nil && w.loses(to, kind)
}

// losing sets what is lost from now on.
func (w *testbed) losing(loses func(to, kind string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loses = loses
}

// frail is artifacts on a disk that breaks when the test says so.
type frail struct {
	*vault.Artifacts
	w *testbed
}

func (f frail) fault(op string, item vault.Item) error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if f.w.breaks == nil {
		return nil
	}
	return f.w.breaks(op, item)
}

func (f frail) Write(id job.ID, item vault.Item, write func(io.Writer) error) error {
	if err := f.fault("write", item); err != nil {
		return err
	}
	return f.Artifacts.Write(id, item, write)
}

func (f frail) Put(id job.ID, item vault.Item, secret []byte) error {
	if err := f.fault("write", item); err != nil {
		return err
	}
	return f.Artifacts.Put(id, item, secret)
}

func (f frail) Erase(id job.ID) ([]vault.Item, error) {
	if err := f.fault("erase", ""); err != nil {
		return nil, err
	}
	return f.Artifacts.Erase(id)
}

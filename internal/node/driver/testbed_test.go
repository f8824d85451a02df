package driver

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/protocol"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	goleak.VerifyTestMain(m)
}

const self, peer = "north", "hub"

func newSession(t testing.TB) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: "toy", Version: 1, Purpose: "test",
		Members: []protocol.Member{{Name: peer, Role: protocol.RoleServer}, {Name: self, Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// numbered is a message of the toy protocol.
func numbered(s *protocol.Session, from, to, kind string, n int, body []byte) protocol.Message {
	h := s.Header(from, to, 0, kind)
	h.Sequence = uint32(n)
	return protocol.Message{Header: h, Body: body}
}

var errCrash = errors.New("crash")

// diary writes down the calls that a driver makes, in their order, and makes
// one of them fail. It outlives a driver.
type diary struct {
	mu    sync.Mutex
	calls []string
	count map[string]int // of this life
	fail  func(call string, n int) error
}

func newDiary() *diary { return &diary{count: make(map[string]int)} }

// life begins another process.
func (d *diary) life(fail func(call string, n int) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls = append(d.calls, "life")
	d.count, d.fail = make(map[string]int), fail
}

// call notes one call; the first word is its kind, which is counted from 0.
func (d *diary) call(kind, what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.count[kind]
	d.count[kind]++
	if d.fail != nil {
		if err := d.fail(kind, n); err != nil {
			d.calls = append(d.calls, "failed "+kind+" "+what)
			return err
		}
	}
	d.calls = append(d.calls, kind+" "+what)
	return nil
}

func (d *diary) all() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// kinds returns the calls of this and former lives that begin with one of the
// words.
func (d *diary) kinds(words ...string) []string {
	var list []string
	for _, c := range d.all() {
		if slices.Contains(words, strings.Fields(c)[0]) {
			list = append(list, c)
		}
	}
	return list
}

// memory is a journal in memory that knows what a power cut would leave.
type memory struct {
	records []journal.Record
	synced  int
}

func (m *memory) Append(r journal.Record) error { m.records = append(m.records, r); return nil }
func (m *memory) Sync() error                   { m.synced = len(m.records); return nil }
func (m *memory) Records() iter.Seq2[journal.Record, error] {
	records := slices.Clone(m.records)
	return func(yield func(journal.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// noted is a log that writes down what happens to it.
type noted struct {
	Log
	*diary
}

func (l noted) Append(r journal.Record) error {
	if err := l.call("append", label(r)); err != nil {
		return err
	}
	return l.Log.Append(r)
}

func (l noted) Sync() error {
	if err := l.call("sync", ""); err != nil {
		return err
	}
	return l.Log.Sync()
}

// label names a record together with the messages that it is to vouch for.
func label(r journal.Record) string {
	text := "outcome"
	switch e := r.Event.(type) {
	case protocol.Received:
		text = "event " + name(e.Message.Header)
	case nil:
		if r.Delivered > 0 {
			text = "delivered"
		}
	default:
		text = fmt.Sprintf("event %T", e)
	}
	for _, d := range r.Sent {
		text += " " + hex.EncodeToString(d[:])
	}
	return text
}

// name is a header as one word.
func name(h protocol.Header) string { return strings.ReplaceAll(h.String(), " ", "_") }

// broker plays the network and the peers: it keeps the messages that the driver has not acknowledged,
// answers the driver's messages, and outlives it.
type broker struct {
	*diary
	t      testing.TB
	answer func(protocol.Message) []protocol.Message

	mu    sync.Mutex
	queue []protocol.Message
	sent  map[string]protocol.Message // by header, first time
	in    chan Inbound                // of the present life
}

func newBroker(t testing.TB, d *diary, answer func(protocol.Message) []protocol.Message) *broker {
	return &broker{diary: d, t: t, answer: answer, sent: make(map[string]protocol.Message)}
}

// connect begins a life: all that is not acknowledged is delivered again.
func (b *broker) connect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.in = make(chan Inbound, 1024)
	for _, m := range b.queue {
		b.deliver(m)
	}
}

func (b *broker) In() <-chan Inbound {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.in
}

// post puts messages of peers into the queue.
func (b *broker) post(messages ...protocol.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range messages {
		b.queue = append(b.queue, m)
		if b.in != nil {
			b.deliver(m)
		}
	}
}

func (b *broker) deliver(m protocol.Message) {
	body := slices.Clone(m.Body) // the driver's machine owns it
	b.in <- Inbound{Message: protocol.Message{Header: m.Header, Body: body}, Receipt: slip{b, m.Header, b.in}}
}

// Send takes a message; a repeated one must have the same body.
func (b *broker) Send(_ context.Context, m protocol.Message) error {
	digest := m.Digest()
	what := hex.EncodeToString(digest[:]) + " " + name(m.Header)
	if err := b.call("send", what); err != nil {
		return err
	}
	b.mu.Lock()
	old, again := b.sent[name(m.Header)]
	if !again {
		b.sent[name(m.Header)] = protocol.Message{Header: m.Header, Body: slices.Clone(m.Body)}
	}
	b.mu.Unlock()
	if again && string(old.Body) != string(m.Body) {
		b.t.Errorf("%v was sent with two bodies", m.Header)
	}
	if !again && b.answer != nil {
		b.post(b.answer(m)...)
	}
	// A crash here is one after the network has taken the message.
	return b.call("taken", what)
}

// slip is the receipt of one delivery.
type slip struct {
	*broker
	header protocol.Header
	in     chan Inbound
}

func (s slip) Ack() error {
	if err := s.call("ack", name(s.header)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(m protocol.Message) bool { return m.Header == s.header })
	return nil
}

// Later delivers again at once: time must not matter here.
func (s slip) Later(time.Duration) error {
	if err := s.call("later", name(s.header)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.queue {
		if m.Header == s.header && s.in == s.broker.in {
			s.deliver(m)
			return nil
		}
	}
	return nil
}

// ledger holds claims in memory.
type ledger struct {
	*diary
	held map[string]protocol.SessionID
}

func (l ledger) Claim(id protocol.SessionID, names ...string) error {
	if err := l.call("claim", strings.Join(names, " ")); err != nil {
		return err
	}
	for _, n := range names {
		if holder, ok := l.held[n]; ok && holder != id {
			return &journal.HeldError{Name: n, Holder: holder}
		}
		l.held[n] = id
	}
	return nil
}

// testbed holds everything that one session's driver meets, in all of its lives.
type testbed struct {
	t       testing.TB
	session *protocol.Session
	diary   *diary
	broker  *broker
	ledger  ledger
	log     *memory
	input   [32]byte
	timeout time.Duration
	machine func() protocol.Machine
}

func newTestbed(t testing.TB, machine func(*protocol.Session) protocol.Machine, answer func(protocol.Message) []protocol.Message) *testbed {
	d := newDiary()
	w := &testbed{
		t: t, session: newSession(t), diary: d, broker: newBroker(t, d, answer),
		ledger: ledger{d, make(map[string]protocol.SessionID)}, log: &memory{}, input: [32]byte{1}, timeout: time.Hour,
	}
	w.machine = func() protocol.Machine { return machine(w.session) }
	return w
}

// run is one life over the log in memory.
func (w *testbed) run(ctx context.Context, fail func(call string, n int) error) error {
	_, err := w.runOn(ctx, w.log, w.log.Records(), fail)
	return err
}

func (w *testbed) runOn(ctx context.Context, log Log, records iter.Seq2[journal.Record, error], fail func(call string, n int) error) (Traffic, error) {
	w.diary.life(fail)
	w.broker.connect()
	return Run(ctx, w.config(log, records))
}

func (w *testbed) config(log Log, records iter.Seq2[journal.Record, error]) Config {
	return Config{
		Session: w.session, Machine: w.machine(), InputHash: w.input, Records: records,
		Log: noted{log, w.diary}, Ledger: w.ledger, Mail: w.broker,
		Timeout: func(protocol.Timer) time.Duration { return w.timeout }, Logger: slog.New(slog.DiscardHandler),
	}
}

// powerCut leaves what was on disk; a kill leaves all.
func (w *testbed) powerCut() {
	w.log.records = w.log.records[:w.log.synced]
	w.diary.calls = append(w.diary.calls, "cut")
}

// checkOrder asserts the driver's promise over all lives: nothing is
// acknowledged and nothing is sent unless it is on disk. Records of former
// lives count as on disk: a life begins with what its journal holds.
func checkOrder(t testing.TB, calls []string) {
	t.Helper()
	written, durable := make(map[string]bool), make(map[string]bool)
	for i, c := range calls {
		words := strings.Fields(c)
		switch words[0] {
		case "append":
			for _, w := range words[2:] {
				written[w] = true
			}
		case "cut":
			written = maps.Clone(durable)
		case "sync", "life":
			for w := range written {
				durable[w] = true
			}
		case "ack":
			if written[words[1]] && !durable[words[1]] {
				t.Fatalf("call %d acknowledges what is not on disk: %s", i, c)
			}
		case "send":
			if !durable[words[1]] {
				t.Fatalf("call %d sends what no record on disk vouches for: %s", i, c)
			}
		}
	}
}

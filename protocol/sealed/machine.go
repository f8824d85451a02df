package sealed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// The timers of a session, whose durations are configured. A waiting member restarts its timer with every message that
// it accepts, and with every piece of its own work. TimerKeeper has to be longer than TimerUpload, because another
// keeper can be waiting for an upload. It also has to be longer than the servers' longest computation between two
// messages to the dealer. Otherwise honest keepers name each other.
const (
	TimerUpload  protocol.Timer = "sealed/upload"  // a keeper waits for an upload
	TimerKeeper  protocol.Timer = "sealed/keeper"  // a keeper waits for another one, which may have to compute first
	TimerWeights protocol.Timer = "sealed/weights" // a data party that is no keeper waits for the weights: for the whole session
)

// Sums are a data party's sums over its scaled rows in whole numbers, as [SolvePlain] takes them.
type Sums struct {
	Outer []int64 // upper triangle of the features' products, row after row
	Cross []int64 // targets x features
}

// hash returns the hash of the sums for [protocol.Start].
func (s *Sums) hash() [sha256.Size]byte {
	var w wire.Writer
	h := sha256.New()
	w.String("mercer/v1/sealed/sums")
	for _, list := range [][]int64{s.Outer, s.Cross} {
		w.Uint64(uint64(len(list)))
		for _, v := range list {
			if w.Uint64(uint64(v)); len(w.Bytes()) >= protocol.MaxChunkBytes {
				_, _ = h.Write(w.Bytes()) // a hash never fails
				w.Reset()
			}
		}
	}
	_, _ = h.Write(w.Bytes())
	return [sha256.Size]byte(h.Sum(nil))
}

// stage is a part of a member's work. Its owner passes messages to receive, calls work until it reports false, and
// takes messages from send.
type stage interface {
	// send returns the next message, or false if there is none.
	send() (protocol.Message, bool)
	// receive takes a message. A [*protocol.BlameError] refuses it and leaves the stage as it was, and so do
	// [protocol.ErrLater] and [protocol.ErrPast]. Any other error ends the session.
	receive(protocol.Message) error
	// work does the next piece of work, and reports whether it did. An error ends the session.
	work() (bool, error)
	// done reports whether the stage has all that it is for, and has sent all messages.
	done() bool
	// waits returns what the stage needs from another member to go on. It is zero if the stage can work or send, and if
	// it must not give up.
	waits() wait
}

// wait names the member for which a stage waits, and what it needs from it.
type wait struct {
	timer  protocol.Timer
	member string
	what   string
}

// duty is the stage of a whole session, at a keeper or at a data party that is no keeper.
type duty interface {
	stage
	progress() protocol.Progress
	// weights returns the opened words of W, as targets x features, once the stage is done.
	weights() []ring128.Word
}

// Machine is a member of a session: a data party, a keeper, or both.
//
// A keeper keeps no uploads: it adds them up as they arrive, so it holds two words of 16 bytes for each number in the
// upper triangle of A, whatever the number of parties. In a squaring a server holds up to 12: see [Cost]. A data party
// holds one more, its upload, as a keeper that loses its journal needs it again: until coins are shown or, at a party
// that is no keeper, to the end.
type Machine struct {
	setup  protocol.Setup
	life   protocol.Life
	params Params
	hash   [sha256.Size]byte // hash of the sums; zero at a member without rows
	upload *upload           // nil at a member that uploads nothing
	duty   duty
	bound  bool // whether this keeper has made the claim [Machine.AnewUntil], which it makes when it shows its coins
}

// NewMachine returns the machine of a member. The sums are nil exactly for a member without rows. It refuses a session
// whose parameters or members it does not accept ([Params.Check], [Params.Floors]), and sums that no rows have. Sums do
// not show how many rows they are of. So a data party compares [Accumulator.Rows] with the number that the parameters
// declare for it before it takes part. The floors limit that number.
func NewMachine(setup protocol.Setup, own *Sums) (*Machine, error) {
	if err := setup.Check(Name, Version, protocol.RoleParty, protocol.RoleKeeper); err != nil {
		return nil, err
	}
	p, err := accepted(setup.Session)
	if err != nil {
		return nil, err
	}
	if hasRows := setup.Session.RoleOf(setup.Self) == protocol.RoleParty; hasRows != (own != nil) {
		if hasRows {
			return nil, fmt.Errorf("sealed: data party %q has no sums; give the sums of its rows", setup.Self)
		}
		return nil, fmt.Errorf("sealed: member %q has sums of rows, but it is no data party", setup.Self)
	}
	if setup.Anew != nil && !slices.Contains(p.Keepers[:], setup.Self) {
		return nil, fmt.Errorf("sealed: %q is no keeper, and only a keeper's session begins anew", setup.Self)
	}
	m := &Machine{setup: setup, params: p}
	if own != nil {
		m.hash = own.hash()
	}
	if err := m.prepare(own); err != nil {
		return nil, err
	}
	m.duty = newDuty(setup, p, m.upload)
	return m, nil
}

// accepted returns a session's parameters, or an error if honest members take no part in such a session.
func accepted(s *protocol.Session) (Params, error) {
	p, err := DecodeParams(s.Params)
	if err != nil {
		return Params{}, err
	}
	if err := p.fit(s); err != nil {
		return Params{}, err
	}
	return p, p.Floors()
}

// prepare makes the upload here, since that takes longer than a step.
func (m *Machine) prepare(own *Sums) (err error) {
	s := m.params.setting(m.setup.Session.ID())
	for _, u := range m.params.uploaders(m.setup.Session) {
		if u.name != m.setup.Self {
			continue
		}
		if own == nil {
			own = &Sums{Outer: make([]int64, s.triangle()), Cross: make([]int64, s.vectors())}
		}
		m.upload, err = newUpload(s, u.name, m.setup.Seed, u.rows, own.Outer, own.Cross)
	}
	return err
}

// InputHash returns the hash of the sums for [protocol.Start]. It is zero for a member without rows.
func (m *Machine) InputHash() [sha256.Size]byte { return m.hash }

// Weights returns the weights of the scaled rows, as targets x features, once the session has ended without error.
func (m *Machine) Weights() linalg.Matrix[float64] {
	w := linalg.New[float64](m.params.Targets, m.params.Features)
	for i, word := range m.duty.weights() {
		w.Data[i] = word.Float(m.params.WeightBits())
	}
	return w
}

// MustGoOn implements [protocol.MustGoOn]: a keeper that has revealed its token goes on until it has the weights and
// has sent the others what they lack.
func (m *Machine) MustGoOn() bool {
	k, is := m.duty.(*keeping)
	return is && k.revealed()
}

// Step implements [protocol.Machine].
func (m *Machine) Step(e protocol.Event) (protocol.Effects, error) {
	return m.life.Step(m.setup, e, protocol.Handlers{Start: m.start, Receive: m.receive, Resume: m.proceed, Expire: m.expire})
}

func (m *Machine) start(e protocol.Start) (protocol.Effects, error) {
	if m.upload != nil && e.InputHash != m.hash {
		return protocol.Effects{}, errors.New("sealed: the sums have changed since the session started; restore the rows or start a new job")
	}
	effects, err := m.proceed()
	effects.Sync = true
	return effects, err
}

func (m *Machine) receive(msg protocol.Message) (protocol.Effects, error) {
	if err := m.duty.receive(msg); err != nil {
		return m.refuse(err)
	}
	return m.proceed()
}

// refuse refuses a message, or ends the session if the error is not about the message alone.
func (m *Machine) refuse(err error) (protocol.Effects, error) {
	var blame *protocol.BlameError
	if errors.Is(err, protocol.ErrLater) || errors.Is(err, protocol.ErrPast) || errors.As(err, &blame) {
		return protocol.Effects{}, err
	}
	return protocol.Finish(protocol.Effects{}, err)
}

// proceed does the next piece of work, and sends the messages that are ready. All that it sends depends on messages
// that were accepted before. A keeper that forgot such a message could use a cover for other words. So each step that
// sends waits for the disk.
func (m *Machine) proceed() (protocol.Effects, error) {
	did, err := m.duty.work()
	if err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	send := m.outgoing()
	e := protocol.Effects{Sync: len(send) > 0, Send: send, Resume: did || len(send) > 0, Progress: m.duty.progress()}
	m.bind(&e)
	if m.duty.done() && (m.upload == nil || m.upload.sent()) {
		return protocol.Finish(e, nil)
	}
	if w := m.duty.waits(); w != (wait{}) {
		e.Arm = []protocol.Timer{w.timer}
	}
	return e, nil
}

// bind makes the claim [Machine.AnewUntil] in the step that shows the keeper's coins, before the coins leave.
func (m *Machine) bind(e *protocol.Effects) {
	if k, is := m.duty.(*keeping); !is || m.bound || !k.tossed() {
		return
	}
	m.bound, e.Claim = true, []string{m.AnewUntil()}
	if m.upload != nil && m.upload.sent() {
		m.upload.free()
	}
}

// AnewUntil implements [protocol.AnewUntil]: a keeper's session begins anew until it has shown its coins.
func (m *Machine) AnewUntil() string {
	if _, is := m.duty.(*keeping); !is {
		return ""
	}
	return "sealed/coins/" + m.setup.Session.ID().Hex()
}

// outgoing returns the next messages, as many as one step may send.
func (m *Machine) outgoing() (list []protocol.Message) {
	for bytes := 0; bytes <= protocol.MaxStepBytes-protocol.MaxChunkBytes; {
		next, ok := m.duty.send()
		if !ok && m.upload != nil {
			next, ok = m.upload.send()
		}
		if !ok {
			break
		}
		bytes += len(next.Body)
		list = append(list, next)
	}
	return list
}

// expire ends the session if the member still waits.
func (m *Machine) expire(t protocol.Timer) (protocol.Effects, error) {
	w := m.duty.waits()
	if w == (wait{}) || w.timer != t {
		return protocol.Effects{}, nil
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(w.member, protocol.KindSilent, fmt.Errorf("sealed: %s did not arrive in time", w.what)))
}

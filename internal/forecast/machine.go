package forecast

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Machine holds the speed of a machine: the seconds for one operation of each kind of [protocol.Effort].
// Operations that protocols spread over cores are measured on all cores.
type Machine struct {
	Product   float64 `json:"product_s"`
	Value     float64 `json:"value_s"`
	Butterfly float64 `json:"butterfly_s"`
	Point     float64 `json:"point_s"`
	Agreement float64 `json:"agreement_s"`
	Keystream float64 `json:"keystream_byte_s"`
	Moved     float64 `json:"moved_byte_s"`
	Hashed    float64 `json:"hashed_byte_s"`
	// Sent and Received are the times of an empty message, and SentByte and ReceivedByte those of each
	// byte of a body, with its encryption, its signature and its entry in a journal's digests.
	Sent         float64 `json:"message_sent_s"`
	Received     float64 `json:"message_received_s"`
	SentByte     float64 `json:"sent_byte_s"`
	ReceivedByte float64 `json:"received_byte_s"`
	// Session is the time that each party of a session takes besides the protocol's own work: for keys,
	// proposal, ledger and journal. Measure does not set it; a caller can measure it by running a job.
	Session float64 `json:"session_s"`
}

// window is the least time for which Measure repeats an operation.
const window = 40 * time.Millisecond

// perUnit repeats a piece of work and returns the mean seconds for one of its n units. It takes the mean and not
// the least, because a job on a busy machine will be as slow. The first run is not counted, because it touches
// fresh memory.
func perUnit(n float64, work func()) float64 {
	work()
	runs, began := 0.0, time.Now()
	for time.Since(began) < window {
		work()
		runs++
	}
	return time.Since(began).Seconds() / runs / n
}

// Measure measures this machine, except for [Machine.Session]. It takes about a second on all cores.
func Measure() (Machine, error) {
	var m Machine
	m.measureArithmetic()
	if err := m.measureValues(); err != nil {
		return Machine{}, err
	}
	if err := m.measureCryptography(); err != nil {
		return Machine{}, err
	}
	return m, m.measureMessages()
}

// measureArithmetic measures products of matrices, transforms, copies and hashes.
func (m *Machine) measureArithmetic() {
	const n = 768
	a, product := linalg.New[float64](n, n), linalg.New[float64](n, n)
	for i := range a.Data {
		a.Data[i] = float64(i%7) - 3
	}
	m.Product = perUnit(n*n*n, func() { linalg.MulTransB(product, a, a) })
	const rows, width, levels = 64, 1 << 12, 12
	x := linalg.New[float64](rows, width)
	m.Butterfly = perUnit(rows*width*levels, func() { linalg.Each(rows, 1, func(i int) { linalg.FWHT(x.Row(i)) }) })
	const large = 4 << 20
	from, to := make([]float64, large), make([]float64, large)
	m.Moved = perUnit(2*8*large, func() {
		linalg.For(large, 1<<16, func(lo, hi int) { copy(to[lo:hi], from[lo:hi]) })
	})
	body := make([]byte, 1<<20)
	m.Hashed = perUnit(1<<20, func() { sha256.Sum256(body) })
}

// measureValues measures values of a kernel.
func (m *Machine) measureValues() error {
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	const n = 1 << 16
	products, squares, values := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range products {
		products[i], squares[i] = float64(i%11)/11, 1
	}
	m.Value = perUnit(n, func() {
		linalg.For(n, 1<<12, func(lo, hi int) { k.Map(values[lo:hi], products[lo:hi], 1, squares[lo:hi]) })
	})
	return nil
}

// measureCryptography measures the operations of the protocols on known keys, which protect nothing.
func (m *Machine) measureCryptography() error {
	key := ristretto.NewKey(&[64]byte{1})
	const points = 256
	elements, out := make([]ristretto.Element, points), make([]byte, points*ristretto.Size)
	for i := range elements {
		elements[i] = ristretto.Hash("mercer/v1/forecast", []byte{byte(i)})
	}
	m.Point = perUnit(points, func() {
		linalg.For(points, 64, func(lo, hi int) { key.Multiply(out[lo*ristretto.Size:], elements[lo:hi]) })
	})
	own, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	m.Agreement = perUnit(1, func() {
		if _, failed := own.ECDH(own.PublicKey()); failed != nil {
			err = failed
		}
	})
	const words = 1 << 17
	sum, masks := make([]uint64, words), []secagg.Mask{{Key: [32]byte{1}}, {Key: [32]byte{2}}}
	m.Keystream = perUnit(float64(8*words*len(masks)), func() { secagg.AESCTR{}.Add(sum, 0, masks) })
	return err
}

// letter measures the sending and the receiving of one message, between two members with known keys.
type letter struct {
	from, to *identity.Identity
	message  protocol.Message
	sealed   []byte
	err      error
}

func (l *letter) send() {
	l.message.Digest()
	key, err := l.to.Public().KEMKey()
	if err == nil {
		l.sealed, err = envelope.Seal(l.message.Header, l.message.Body, key, l.from.SigningKey())
	}
	l.fail(err)
}

func (l *letter) receive() {
	v, err := envelope.Verify(l.sealed, func(string) (ed25519.PublicKey, bool) { return l.from.Public().Sign, true }, l.message.Receiver)
	if err != nil {
		l.fail(err)
		return
	}
	m, err := v.Open(l.to.KEMKey())
	if err != nil {
		l.fail(err)
		return
	}
	var seen protocol.Inbox
	if _, err := seen.Fresh(m); err != nil {
		l.fail(err)
	}
	seen.Accept(m)
}

func (l *letter) fail(err error) {
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("forecast: %w", err)
	}
}

// measureMessages measures empty messages and large ones.
func (m *Machine) measureMessages() error {
	from, err := identity.FromSeed([32]byte{1})
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	to, err := identity.FromSeed([32]byte{2})
	if err != nil {
		return fmt.Errorf("forecast: %w", err)
	}
	l := &letter{from: from, to: to, message: protocol.Message{Header: protocol.Header{Protocol: "forecast", Kind: "Measure", Sender: "one", Receiver: "two", Chunks: 1}}}
	m.Sent, m.Received = perUnit(1, l.send), perUnit(1, l.receive)
	l.message.Body = make([]byte, protocol.MaxChunkBytes)
	m.SentByte = max(0, perUnit(1, l.send)-m.Sent) / protocol.MaxChunkBytes
	m.ReceivedByte = max(0, perUnit(1, l.receive)-m.Received) / protocol.MaxChunkBytes
	return l.err
}

// Seconds returns the seconds that this machine takes for an effort.
func (m Machine) Seconds(e protocol.Effort) float64 {
	return e.Products*m.Product + e.Functions*m.Value + e.Butterflies*m.Butterfly + e.Points*m.Point +
		e.Agreements*m.Agreement + e.Keystream*m.Keystream + e.Moved*m.Moved + e.Hashed*m.Hashed
}

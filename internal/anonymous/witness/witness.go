// Package witness lets relay and issuer countersign a gateway's announcements to devices. The
// operator of a witness gives the witness the gateway's key. A witness countersigns only the first
// configuration of this gateway, and only one link at each place of the history. It does not read
// histories from other senders. A countersignature is on disk before the witness sends it, so that
// even a restarted witness signs no contradiction. Therefore a gateway that gives one device other
// keys or other weights than all others does not get both countersignatures, unless both witnesses
// collude with it.
package witness

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Witness countersigns the history of one gateway. It is safe for concurrent use.
type Witness struct {
	key     ed25519.PrivateKey
	gateway ed25519.PublicKey
	accept  func(*secvm.Configuration) error
	shown   chan struct{} // limits the number of histories that are read concurrently

	mu            sync.Mutex
	log           *disk.Log
	failed        error                // first error of writing the log; afterwards the witness countersigns nothing
	configuration *secvm.Configuration // countersigned configuration; nil before the first one
	follower      secvm.Follower
	iteration     uint32 // iteration of the last link
}

// Open opens the file in which a witness records its countersignatures. The witness does not
// countersign a configuration that gateway has not signed, or that accept refuses.
func Open(path string, key ed25519.PrivateKey, gateway ed25519.PublicKey, accept func(*secvm.Configuration) error) (*Witness, error) {
	if len(gateway) != ed25519.PublicKeySize {
		return nil, fault.BadInputf("the witness does not have the gateway's key; the gateway's operator can print the key with \"mercer gateway key\"")
	}
	w := &Witness{key: key, gateway: gateway, accept: accept, shown: make(chan struct{}, maxShown)}
	var err error
	if w.log, err = disk.OpenLog(path, w.remember); err != nil {
		return nil, err
	}
	if w.configuration != nil && !w.configuration.Signer.Equal(gateway) {
		return nil, errors.Join(fault.BadInputf("the file %s belongs to a job of the gateway with key %x; give the witness that key, or remove the file if no device takes part in that job",
			path, w.configuration.Signer), w.log.Close())
	}
	return w, nil
}

// Kinds of records in the witness's file.
const (
	recordConfiguration = 1 // a signed configuration
	recordHead          = 2 // the head of the history
)

// remember restores the witness's state from one record of its file.
func (w *Witness) remember(record []byte) error {
	r := wire.NewReader(record)
	switch kind := r.Uint8(); {
	case kind == recordConfiguration && w.configuration == nil:
		c, err := secvm.DecodeConfiguration(r.Rest())
		if err != nil {
			return err
		}
		w.configure(c)
	case kind == recordHead && w.configuration != nil:
		w.follower.Seen, w.iteration = int(r.Uint32()), r.Uint32()
		r.Fixed(w.follower.Head[:])
	default:
		r.Fail(fmt.Errorf("the record's kind %d is unknown, or must not occur here", kind))
	}
	return r.Close("witness: a record of its file")
}

func (w *Witness) configure(c *secvm.Configuration) {
	w.configuration, w.follower = c, secvm.Follower{Key: c.Signer, Configuration: c.Hash()}
}

// Countersign checks that h equals or extends the history that the witness has recorded, and
// records the head of h on disk. From then on, [Witness.State] signs this head. Countersign returns
// [secvm.ErrConfiguration] if the configuration differs from the recorded one, and
// [secvm.ErrForked] if h contradicts the recorded history.
func (w *Witness) Countersign(h secvm.History) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return fmt.Errorf("%w: %w", ErrMemory, w.failed)
	}
	c, err := secvm.DecodeConfiguration(h.Configuration)
	if err != nil {
		return err
	}
	if w.configuration == nil {
		if err := w.first(c, h.Configuration); err != nil {
			return err
		}
	}
	if c.Hash() != w.follower.Configuration {
		return secvm.ErrConfiguration
	}
	if len(h.Chain) == 0 && w.follower.Seen == 0 {
		return nil
	}
	next := w.follower
	link, err := next.Advance(h.Chain)
	if errors.Is(err, secvm.ErrStale) {
		return nil
	}
	if err != nil {
		return err
	}
	var record wire.Writer
	record.Uint8(recordHead)
	record.Uint32(uint32(next.Seen))
	record.Uint32(link.Iteration)
	record.Fixed(next.Head[:])
	if err := w.append(record.Bytes()); err != nil {
		return err
	}
	w.follower, w.iteration = next, link.Iteration
	return nil
}

// ErrMemory is returned if a witness cannot write its file.
var ErrMemory = errors.New("witness: the file of countersignatures cannot be written")

// ErrStranger is returned for a history that the gateway has not signed.
var ErrStranger = errors.New("witness: the history is not signed by the gateway whose key the operator has given")

// first accepts the first configuration. The witness compares all later ones with it.
func (w *Witness) first(c *secvm.Configuration, signed []byte) error {
	if !c.Signer.Equal(w.gateway) {
		return ErrStranger
	}
	if err := w.accept(c); err != nil {
		return err
	}
	if err := w.append(append([]byte{recordConfiguration}, signed...)); err != nil {
		return err
	}
	w.configure(c)
	return nil
}

// append writes a record to the witness's file. After an error, the content of the file is unknown
// until the next Open reads the file.
func (w *Witness) append(record []byte) error {
	if w.failed = w.log.Append(record); w.failed != nil {
		return fmt.Errorf("%w: %w", ErrMemory, w.failed)
	}
	return nil
}

// Standing describes the countersigned history.
type Standing struct {
	Configuration *secvm.Configuration // nil before the first configuration
	Links         int
	Iteration     uint32 // iteration of the last link
	head          secvm.Statement
}

// Standing returns the countersigned history. The result is empty if the witness has no
// configuration or could not write its file.
func (w *Witness) Standing() Standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil || w.configuration == nil {
		return Standing{}
	}
	f := w.follower
	return Standing{w.configuration, f.Seen, w.iteration, secvm.Statement{Configuration: f.Configuration, Links: uint32(f.Seen), Head: f.Head}}
}

// State returns a signed statement that the given number of devices are ready for the last
// window.
func (w *Witness) State(s Standing, devices int) []byte {
	s.head.Devices = uint32(devices)
	return s.head.Sign(func(m []byte) []byte { return ed25519.Sign(w.key, m) })
}

// Close closes the witness's file.
func (w *Witness) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Close()
}

// Serve adds a witness's HTTP handlers to mux. The gateway posts its history, and anyone can
// request a signed statement. The function count returns the number of devices for the
// statement.
func (w *Witness) Serve(mux *http.ServeMux, log *slog.Logger, count func(Standing) int) {
	mux.HandleFunc("POST "+secvm.HistoryPath, func(a http.ResponseWriter, q *http.Request) {
		status, err := w.take(a, q)
		switch {
		case errors.Is(err, ErrStranger): // logged at level debug because anyone can send such a history
			log.Debug("a history of somebody else was not read", "error", err)
		case status == http.StatusServiceUnavailable:
			log.Error("cannot countersign", "error", err)
		case err != nil:
			log.Warn("a history was not countersigned", "error", err)
		}
		if status != http.StatusOK {
			endpoint.Refuse(a, status)
		}
	})
	mux.HandleFunc("GET "+secvm.StatementPath, func(a http.ResponseWriter, _ *http.Request) {
		s := w.Standing()
		if s.Configuration == nil {
			http.Error(a, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
			return
		}
		endpoint.Answer(a, w.State(s, count(s)))
	})
}

// maxShown is the largest number of histories that are read at a time. The gateway sends one at a
// time. A few more are allowed, because an observer can occupy a place with the repeated header of
// an earlier request.
const maxShown = 4

// take reads a history whose header its gateway has signed, and countersigns it.
func (w *Witness) take(a http.ResponseWriter, q *http.Request) (status int, err error) {
	signer := request.Signer{Purpose: secvm.HistoryPurpose, Of: w.gateway}
	by, err := signer.Verify(q, func(name string) ed25519.PublicKey {
		if name == request.NameOf(w.gateway) {
			return w.gateway
		}
		return nil
	})
	if err != nil {
		return http.StatusForbidden, errors.Join(ErrStranger, err)
	}
	endpoint.Admit(q, by.Name)
	select {
	case w.shown <- struct{}{}:
		defer func() { <-w.shown }()
	default:
		return http.StatusServiceUnavailable, errors.New("witness: too many histories are being read; try again")
	}
	b, err := by.Read(a, q, secvm.MaxHistory)
	switch {
	case errors.Is(err, request.ErrOtherBody):
		return http.StatusForbidden, errors.Join(ErrStranger, err)
	case err != nil:
		return endpoint.StatusOf(q, secvm.MaxHistory, err), err
	}
	h, err := secvm.DecodeHistory(b)
	if err != nil {
		return http.StatusBadRequest, err
	}
	return verdict(w.Countersign(h))
}

// verdict returns the HTTP status that tells the gateway the outcome of its request.
func verdict(err error) (int, error) {
	switch {
	case err == nil:
		return http.StatusOK, nil
	case errors.Is(err, ErrMemory):
		return http.StatusServiceUnavailable, err
	case errors.Is(err, ErrStranger):
		return http.StatusForbidden, err
	case errors.Is(err, secvm.ErrConfiguration), errors.Is(err, secvm.ErrForked):
		return http.StatusConflict, err
	default:
		return http.StatusBadRequest, err
	}
}

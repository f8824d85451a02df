// Package witness lets relay and issuer countersign a gateway's announcements to devices. A
// witness has its gateway's key from its operator. It countersigns one configuration, the
// first that this gateway shows it, and one link at each place of its history. It does not
// read histories of others. It writes a countersignature to disk before it sends it, so
// that it countersigns nothing else after a restart. So a gateway that gives one device
// other keys or other weights than all others does not get both countersignatures, unless
// both witnesses work with it.
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

// Witness is safe for concurrent use.
type Witness struct {
	key     ed25519.PrivateKey
	gateway ed25519.PublicKey
	accept  func(*secvm.Configuration) error
	shown   chan struct{} // a place for each history that is being read

	mu            sync.Mutex
	log           *disk.Log
	failed        error                // of the log; after it nothing is countersigned
	configuration *secvm.Configuration // nil: none yet
	follower      secvm.Follower
	iteration     uint32 // of the last link
}

// Open opens a witness's memory, a file. It does not countersign a configuration that
// gateway has not signed, or that accept refuses.
func Open(path string, key ed25519.PrivateKey, gateway ed25519.PublicKey, accept func(*secvm.Configuration) error) (*Witness, error) {
	if len(gateway) != ed25519.PublicKeySize {
		return nil, fault.BadInputf("a witness needs the gateway's key; its operator gets it from mercer gateway key")
	}
	w := &Witness{key: key, gateway: gateway, accept: accept, shown: make(chan struct{}, maxShown)}
	var err error
	if w.log, err = disk.OpenLog(path, w.remember); err != nil {
		return nil, err
	}
	if w.configuration != nil && !w.configuration.Signer.Equal(gateway) {
		return nil, errors.Join(fault.BadInputf("%s is bound to a job of the gateway with key %x; give that key, or remove the file if no device takes part in that job",
			path, w.configuration.Signer), w.log.Close())
	}
	return w, nil
}

// The kinds of records in the memory.
const (
	recordConfiguration = 1 // signed
	recordHead          = 2 // of the history
)

// remember reads a record.
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
		r.Fail(fmt.Errorf("the record has the unknown kind %d", kind))
	}
	return r.Close("witness: a record of its memory")
}

func (w *Witness) configure(c *secvm.Configuration) {
	w.configuration, w.follower = c, secvm.Follower{Key: c.Signer, Configuration: c.Hash()}
}

// Countersign checks that h extends the last history that it has signed, or equals it, and
// signs the new head. It returns [secvm.ErrConfiguration] for another configuration than
// the countersigned one, and [secvm.ErrForked] for another history.
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

// ErrMemory is returned if a witness cannot write its memory.
var ErrMemory = errors.New("witness: the memory cannot be written")

// ErrStranger is returned for a history that the gateway has not signed.
var ErrStranger = errors.New("witness: the history is not signed by the gateway whose key the operator has given")

// first accepts the configuration with which all later ones are compared.
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

// append writes a record. After an error the content of the disk is unknown until it is
// read again.
func (w *Witness) append(record []byte) error {
	if w.failed = w.log.Append(record); w.failed != nil {
		return fmt.Errorf("%w: %w", ErrMemory, w.failed)
	}
	return nil
}

// Standing describes the countersigned history.
type Standing struct {
	Configuration *secvm.Configuration // nil: nothing yet
	Links         int
	Iteration     uint32 // of the last link
	head          secvm.Statement
}

// Standing returns the countersigned history; an empty one after the memory has failed.
func (w *Witness) Standing() Standing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil || w.configuration == nil {
		return Standing{}
	}
	f := w.follower
	return Standing{w.configuration, f.Seen, w.iteration, secvm.Statement{Configuration: f.Configuration, Links: uint32(f.Seen), Head: f.Head}}
}

// State signs that the given number of devices are ready for the last window.
func (w *Witness) State(s Standing, devices int) []byte {
	s.head.Devices = uint32(devices)
	return s.head.Sign(func(m []byte) []byte { return ed25519.Sign(w.key, m) })
}

// Close closes the memory.
func (w *Witness) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Close()
}

// Serve adds a witness's handlers to a server: the gateway shows its history, and anyone
// may request a statement, in which count gives the number of devices.
func (w *Witness) Serve(mux *http.ServeMux, log *slog.Logger, count func(Standing) int) {
	mux.HandleFunc("POST "+secvm.HistoryPath, func(a http.ResponseWriter, q *http.Request) {
		status, err := w.take(a, q)
		switch {
		case errors.Is(err, ErrStranger): // anyone may send these
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

// maxShown bounds the histories that are read at a time. The gateway shows one. A few more
// are allowed, because an observer can repeat the header of an earlier request.
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
		return http.StatusServiceUnavailable, errors.New("witness: too many histories at a time; try again")
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

// verdict returns the status that tells the gateway the outcome of its request.
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

package device

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Store saves the device's state on disk or elsewhere. The state contains random draws, the head of
// the history, the last answered iteration and tokens. The state is secret, and a device must not
// lose it.
type Store interface {
	Load() ([]byte, error)   // returns the state that was saved last, or nil if there is none
	Save(state []byte) error // returns when the state is durable
}

// state holds all values that a device saves in its store.
type state struct {
	role     secvm.Role
	vector   secvm.Vector // the sample of the record that the device uses
	follower secvm.Follower
	answered int64 // last iteration that the device has answered; -1 for none
	tokens   map[uint32][][]byte
}

const (
	stateMagic = "mercer/v1/device"
	maxEntries = 1 << 20
	maxTokens  = 1 << 14
	maxToken   = 1 << 10
)

// take marks an iteration as answered, and returns its tokens. It removes the tokens of this and
// all earlier iterations from the state.
func (s *state) take(iteration uint32) [][]byte {
	s.answered = int64(iteration)
	tokens := s.tokens[iteration]
	maps.DeleteFunc(s.tokens, func(i uint32, _ [][]byte) bool { return i <= iteration })
	return tokens
}

func (s *state) encode() []byte {
	var w wire.Writer
	w.String(stateMagic)
	w.Fixed(s.follower.Configuration[:])
	w.Fixed(s.follower.Head[:])
	w.Uint32(uint32(s.follower.Seen))
	w.Uint64(uint64(s.answered))
	w.Uint8(uint8(s.role))
	w.Uint32(uint32(len(s.vector)))
	for _, e := range s.vector {
		w.Uint32(uint32(e.Bin))
		w.Uint32(uint32(e.Count))
	}
	w.Uint32(uint32(len(s.tokens)))
	for _, i := range slices.Sorted(maps.Keys(s.tokens)) {
		w.Uint32(i)
		w.Uint32(uint32(len(s.tokens[i])))
		for _, t := range s.tokens[i] {
			w.Bytes32(t)
		}
	}
	return w.Bytes()
}

// decodeState decodes a state that encode has returned.
func decodeState(c *secvm.Configuration, b []byte) (*state, error) {
	r := wire.NewReader(b)
	if magic := r.String(64); r.Err() == nil && magic != stateMagic {
		r.Fail(errors.New("the store does not hold a device's state"))
	}
	s := &state{follower: secvm.Follower{Key: c.Signer}, tokens: map[uint32][][]byte{}}
	r.Fixed(s.follower.Configuration[:])
	r.Fixed(s.follower.Head[:])
	s.follower.Seen = int(r.Uint32())
	s.answered = int64(r.Uint64())
	s.role = secvm.Role(r.Uint8())
	s.vector = make(secvm.Vector, r.Count(maxEntries, 8))
	for i := range s.vector {
		s.vector[i] = secvm.Entry{Bin: int(r.Uint32()), Count: int(r.Uint32())}
	}
	for range r.Count(maxTokens, 8) {
		i := r.Uint32()
		tokens := make([][]byte, r.Count(maxTokens, 4))
		for j := range tokens {
			tokens[j] = r.Bytes32(maxToken)
		}
		s.tokens[i] = tokens
	}
	if err := r.Close("device: state"); err != nil {
		return nil, err
	}
	if s.follower.Configuration != c.Hash() {
		return nil, errors.New("device: the store belongs to another job; use a separate store for every job")
	}
	return s, nil
}

func (d *Device) saveLocked() error {
	if err := d.Store.Save(d.state.encode()); err != nil {
		return fmt.Errorf("device: %w", err)
	}
	return nil
}

func (d *Device) answered(iteration uint32) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.answered >= int64(iteration)
}

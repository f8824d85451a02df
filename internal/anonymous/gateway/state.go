package gateway

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

const (
	stateMagic  = "mercer/v2/gateway"
	maxSnapshot = 1 << 30
)

// save writes the gateway's state to its file. The state must hold all results of an iteration
// before the iteration's records are removed.
func (g *Gateway) save() error {
	var w wire.Writer
	w.String(stateMagic)
	w.Bytes32(g.chain.Encode())
	w.Bytes32(g.server.Snapshot())
	for _, n := range []*int{&g.windows, &g.participants, &g.rare} {
		w.Uint32(uint32(*n))
	}
	for _, t := range g.tests {
		w.Uint64(t.Total)
		w.Uint64(t.Correct)
	}
	encodeCurve(&w, g.curve)
	return disk.Replace(g.path("state"), w.Bytes())
}

// testedSize is the size of one iteration's test results in the state, in bytes.
const testedSize = 4 + 4*8

// encodeCurve appends the test results of the iterations in the curve to the encoded state.
func encodeCurve(w *wire.Writer, curve []tested) {
	w.Uint32(uint32(len(curve)))
	for _, t := range curve {
		w.Uint32(t.iteration)
		for _, o := range t.tests {
			w.Uint64(o.Total)
			w.Uint64(o.Correct)
		}
	}
}

// load reads the saved state, if there is one. It also removes keys of closed windows and records
// of finished iterations that a crash has left behind.
func (g *Gateway) load() error {
	b, err := os.ReadFile(g.path("state"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	if err := g.decodeState(b); err != nil {
		return err
	}
	open := len(g.chain) - 1
	if g.server.Done() {
		open = -1
	}
	if err := g.eraseKeys(open); err != nil {
		return err
	}
	iteration, _ := g.server.Published()
	files, err := filepath.Glob(g.path("packages-*"))
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	for _, f := range files {
		if f != g.records(iteration) || g.server.Done() {
			if err := os.Remove(f); err != nil {
				return fmt.Errorf("gateway: %w", err)
			}
		}
	}
	return nil
}

func (g *Gateway) decodeState(b []byte) error {
	r := wire.NewReader(b)
	r.Magic(64, stateMagic, "the file begins with %q, so it does not hold a gateway's state")
	chain, snapshot := r.Bytes32(maxSnapshot), r.Bytes32(maxSnapshot)
	for _, n := range []*int{&g.windows, &g.participants, &g.rare} {
		*n = int(r.Uint32())
	}
	for i := range g.tests {
		g.tests[i] = secvm.Outcome{Total: r.Uint64(), Correct: r.Uint64()}
	}
	g.curve = decodeCurve(r)
	err := r.Close("gateway: " + g.path("state"))
	if err == nil {
		g.chain, err = secvm.DecodeChain(chain)
	}
	if err == nil && len(g.chain) == 0 {
		err = fmt.Errorf("gateway: %s: the saved state has no window", g.path("state"))
	}
	if err != nil {
		return err
	}
	return g.server.Restore(snapshot)
}

// decodeCurve reads the curve at the end of a saved state. States that earlier versions wrote
// have no curve.
func decodeCurve(r *wire.Reader) []tested {
	if r.Len() == 0 {
		return nil
	}
	curve := make([]tested, r.Count(maxSnapshot/testedSize, testedSize))
	for i := range curve {
		t := &curve[i]
		t.iteration = r.Uint32()
		for c := range t.tests {
			t.tests[c] = secvm.Outcome{Total: r.Uint64(), Correct: r.Uint64()}
		}
	}
	return curve
}

// announceWindow appends a window with its own key to the history. It saves the history before
// any device can see the window. It also erases the previous window's key, so that nobody can
// open requests sealed to that key afterwards.
func (g *Gateway) announceWindow(ahead time.Duration) error {
	iteration, weights := g.server.Published()
	opens := time.Now().Add(ahead).UnixMilli()
	if n := len(g.chain); n > 0 { // opening times must increase, even if the clock was set back
		opens = max(opens, g.chain[n-1].Opens+1)
	}
	place := len(g.chain)
	key, err := g.drawKey(place)
	if err != nil {
		return err
	}
	g.chain = g.chain.Extend(secvm.Link{
		Configuration: g.configuration.Hash(), Iteration: iteration, Opens: opens, Key: key, Weights: secvm.HashWeights(weights),
	}, g.sign)
	if err := g.save(); err != nil {
		return err
	}
	return g.eraseKeys(place)
}

// drawKey draws the key of the next window, and stores the key's seed on disk. A gateway that is
// killed during the window can then continue. The seed is random, and is erased after the
// window.
func (g *Gateway) drawKey(place int) (public [secvm.KeySize]byte, err error) {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return public, fmt.Errorf("gateway: %w", err)
	}
	key, err := ohttp.NewKey(keyID, seed[:])
	if err != nil {
		return public, err
	}
	copy(public[:], key.Config().Encode())
	return public, disk.Replace(g.keyPath(place), seed[:])
}

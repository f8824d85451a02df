package sealed

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// pair is two keepers.
type pair uint8

const (
	pairAB pair = iota
	pairAC
	pairBC
)

// purpose names the use of a stream of words. From one source a keeper draws the streams of a step in this order.
type purpose uint8

const (
	opening    purpose = iota // V of a product, which covers a server's share of the vectors
	dealing                   // Z_a of a product or of a square, which covers what the dealer sends
	squared                   // U of a square, which covers a server's share of it
	refreshing                // what a adds and b subtracts before a cut
)

// source hands out the words that two keepers have in common.
type source interface {
	// draw sets words to those of a step for a purpose. It returns an error if it has handed out these or later words.
	draw(words []ring128.Word, step int, of purpose) error
}

// covers is the source of a pair in one generation. It hands out words in the order of step and purpose, and each word
// once, because the argument of the package's comment fails if one word covers two others. The order is that of the
// computation, so that a restarted keeper that replays its journal draws the same.
type covers struct {
	seed [32]byte
	next uint64 // least position (step and purpose) whose words can still be handed out
}

// newCovers returns the source of a pair of keepers that contributed 32 secret bytes each for this generation. The
// contribution of the keeper with the lower role comes first. One honest contribution makes the words new.
func newCovers(c computation, of pair, contributions [2][32]byte) *covers {
	var w wire.Writer
	w.String("mercer/v1/sealed/pair")
	w.Fixed(c.session[:])
	w.Uint32(c.generation)
	w.Uint8(uint8(of))
	w.Fixed(contributions[0][:])
	w.Fixed(contributions[1][:])
	return &covers{seed: sha256.Sum256(w.Bytes())}
}

// draw implements source.
func (c *covers) draw(words []ring128.Word, step int, of purpose) error {
	at := uint64(step)<<8 | uint64(of)
	if step < 0 || at < c.next {
		return fmt.Errorf("sealed: the words of step %d for purpose %d, or later ones, are handed out already", step, of)
	}
	c.next = at + 1
	ring128.Draw(words, prg.New(c.seed, "mercer/v1/sealed/cover", binary.LittleEndian.AppendUint64(nil, at)))
	return nil
}

// cutter truncates a server's shares. Both servers cut the same words in the same order.
//
// Before each cut a adds words that are uniform and that both servers know, and b subtracts them: see TestCutAgain. A
// product or a square makes a's share uniform by itself, but fresh words cost little, so no cut goes without.
type cutter struct {
	covers   source
	number   int // number of cuts so far
	refresh  func(z, words []ring128.Word)
	truncate func(z []ring128.Word, f uint)
	err      error // the first error of cut; the server's words are useless after it
}

func newCutter(self role, of source) *cutter {
	if self == serverA {
		return &cutter{covers: of, refresh: ring128.Add, truncate: ring128.TruncateFirst}
	}
	return &cutter{covers: of, refresh: ring128.Sub, truncate: ring128.TruncateSecond}
}

// cut truncates words by f bits. Its owner looks at err before it goes on.
func (c *cutter) cut(z []ring128.Word, f uint) {
	words := make([]ring128.Word, len(z))
	if c.err == nil {
		c.err = c.draw(words)
	}
	if c.err == nil {
		c.apply(z, words, f)
	}
}

// draw sets words to those of the next cut, which apply takes in pieces.
func (c *cutter) draw(words []ring128.Word) error {
	if err := c.covers.draw(words, c.number, refreshing); err != nil {
		return err
	}
	c.number++
	return nil
}

// apply truncates words by f bits with fresh words of a cut.
func (c *cutter) apply(z, fresh []ring128.Word, f uint) {
	c.refresh(z, fresh)
	c.truncate(z, f)
}

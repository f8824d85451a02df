package okra

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const baseMagic = "mercer/v1/okra/base"

// Write encodes the base canonically and passes the encoding to a function, part by part. It stops
// when the function returns an error. The encoding has the lower triangle of the Gram matrix. The
// function must not keep the parts.
func (b *Base) Write(to func(part []byte) error) error {
	var w wire.Writer
	w.String(baseMagic)
	w.Fixed(b.Origin[:])
	w.Fixed(b.Session[:])
	w.Fixed(b.Tag[:])
	w.Uint32(uint32(b.Width))
	w.Bool(b.storesFloat64())
	w.Bool(b.labelled)
	w.Uint32(uint32(len(b.Parts)))
	for _, p := range b.Parts {
		w.String(p.Party)
		w.Uint32(uint32(p.Rows))
		w.Fixed(p.Sent[:])
		w.Bool(p.Grid)
	}
	for i, l := range b.labels {
		w.String(l)
		w.Bool(b.test[i])
	}
	err := to(w.Bytes())
	for i := 0; i < len(b.labels) && err == nil; i++ {
		w.Reset()
		b.rows.write(&w, i, i+1)
		w.Float64s(b.gram.Row(i)[:i+1])
		err = to(w.Bytes())
	}
	return err
}

// storesFloat64 reports whether rows are stored as float64.
func (b *Base) storesFloat64() bool {
	_, wide := b.rows.(*table[float64])
	return wide
}

// DecodeBase decodes a base from the output of [Base.Write].
func DecodeBase(encoded []byte) (*Base, error) {
	r := wire.NewReader(encoded)
	r.Magic(len(baseMagic), baseMagic, "the data begins with %q, so it is not a server's kept rows of okra")
	b := &Base{}
	r.Fixed(b.Origin[:])
	r.Fixed(b.Session[:])
	r.Fixed(b.Tag[:])
	b.Width = int(r.Uint32())
	word := 4
	if r.Bool() {
		word = 8
	}
	b.labelled = r.Bool()
	total := b.readParts(r)
	if r.Err() == nil && (b.Width < 1 || b.Width > 2*MaxFeatures || int64(total)*int64(b.Width)*int64(word) > int64(r.Len())) {
		r.Fail(fmt.Errorf("the header states %d rows of %d numbers, which do not fit in the remaining %d bytes", total, b.Width, r.Len()))
	}
	if r.Err() == nil {
		b.readRows(r, total, word)
	}
	return b, r.Close("okra: kept rows")
}

// readParts reads the descriptions of the parties' rows and returns the number of all rows.
func (b *Base) readParts(r *wire.Reader) (total int) {
	for range r.Count(protocol.MaxMembers, 38) {
		p := Part{Party: r.String(protocol.MaxNameBytes), Rows: int(r.Uint32())}
		r.Fixed(p.Sent[:])
		p.Grid, p.first = r.Bool(), total
		if r.Err() == nil && p.Rows > maxRows {
			r.Fail(fmt.Errorf("the header lists %d rows of %q; at most %d are allowed", p.Rows, p.Party, maxRows))
		}
		if r.Err() == nil && b.partOf(p.Party).Rows > 0 {
			r.Fail(fmt.Errorf("the header lists the rows of %q twice", p.Party))
		}
		if r.Err() != nil {
			return 0
		}
		b.Parts, total = append(b.Parts, p), total+p.Rows
	}
	return total
}

// readRows reads the labels, the rows and the Gram matrix. The caller has checked that the bytes of
// the rows are present.
func (b *Base) readRows(r *wire.Reader, total, word int) {
	for range total {
		l := r.String(maxLabelBytes)
		if t := r.Bool(); r.Err() == nil {
			b.labels, b.test = append(b.labels, l), append(b.test, t)
		}
	}
	if need := int64(total) * (int64(total) + 1) / 2 * 8; r.Err() == nil && need+int64(total)*int64(b.Width)*int64(word) != int64(r.Len()) {
		r.Fail(errors.New("the length of the data does not match its number of rows"))
	}
	if r.Err() != nil {
		return
	}
	b.rows, b.gram = newStore(total, b.Width, word), linalg.New[float64](total, total)
	for i := range total {
		body := make([]byte, b.Width*word)
		r.Fixed(body)
		if err := b.rows.put(span{i, 1, 0, b.Width}, 0, body); err != nil {
			r.Fail(err)
			return
		}
		r.Float64s(b.gram.Row(i)[:i+1])
		for j, v := range b.gram.Row(i)[:i+1] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				r.Fail(fmt.Errorf("the product of rows %d and %d is %v; products must be finite", i, j, v))
				return
			}
			b.gram.Row(j)[i] = v
		}
	}
}

// Encode returns the canonical encoding of the state. The encoding is secret.
func (s EpochState) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/okra/standing")
	w.Fixed(s.Origin[:])
	w.Fixed(s.Session[:])
	w.Fixed(s.Seed[:])
	w.Strings(s.Holders)
	w.Uint32(uint32(s.Features))
	w.Uint32(uint32(s.Rows))
	w.Fixed(s.Sent[:])
	w.Bool(s.Labels)
	w.Bytes32(s.Preparation)
	return w.Bytes()
}

// DecodeStanding decodes a state from the output of [EpochState.Encode].
func DecodeStanding(b []byte) (s EpochState, err error) {
	const magic = "mercer/v1/okra/standing"
	r := wire.NewReader(b)
	r.Magic(len(magic), magic, "the data begins with %q, so it is not a party's kept state of okra")
	r.Fixed(s.Origin[:])
	r.Fixed(s.Session[:])
	r.Fixed(s.Seed[:])
	s.Holders = r.Strings(protocol.MaxMembers, protocol.MaxNameBytes)
	s.Features = int(r.Uint32())
	s.Rows = int(r.Uint32())
	r.Fixed(s.Sent[:])
	s.Labels = r.Bool()
	s.Preparation = r.Bytes32(MaxPreparation)
	if r.Err() == nil && (s.Features < 1 || s.Features > MaxFeatures || s.Rows > maxRows) {
		r.Fail(fmt.Errorf("the state has %d rows of %d features; at most %d rows, and 1 to %d features, are allowed", s.Rows, s.Features, maxRows, MaxFeatures))
	}
	return s, r.Close("okra: kept state")
}

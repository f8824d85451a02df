package model

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

const (
	publicMagic  = "MERCER\x00M"
	privateMagic = "MERCER\x00P"
	randomMagic  = "MERCER\x00R"
	rowlessMagic = "MERCER\x00L"
	version      = 1
	namedVersion = 2         // version with names of columns
	prefixSize   = 8 + 2 + 8 // number of bytes of magic number, version and file length
	functionSize = 8 + 4     // number of bytes of Rho and of the number of coefficients
)

// Encode writes m as a public file. Its errors come from w.
func Encode(w io.Writer, m *Model) error { return write(w, publicMagic, m) }

// EncodePrivate writes p as a private file. Its errors come from w.
func EncodePrivate(w io.Writer, p *Private) error { return write(w, privateMagic, p.model) }

// SHA256 returns the hash of the whole file that Encode writes.
func SHA256(m *Model) [sha256.Size]byte { return sum(publicMagic, m) }

// SHA256 returns the hash of the whole file that EncodePrivate writes.
func (p *Private) SHA256() [sha256.Size]byte { return sum(privateMagic, p.model) }

func sum(magic string, m *Model) [sha256.Size]byte {
	h := sha256.New()
	if err := write(h, magic, m); err != nil {
		panic("model: a hash refused bytes: " + err.Error()) // unreachable: a hash.Hash accepts all bytes
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// encoder writes bytes to a file and to the hash of the file. It keeps the first error.
type encoder struct {
	w   io.Writer
	sum hash.Hash
	err error
}

func (e *encoder) write(b []byte) {
	if e.err != nil {
		return
	}
	e.sum.Write(b)
	_, e.err = e.w.Write(b)
}

func write(w io.Writer, magic string, m *Model) error {
	e := &encoder{w: w, sum: sha256.New()}
	single := m.isSingle()
	header := m.header(single)
	var prefix wire.Writer
	prefix.Fixed([]byte(magic))
	prefix.Uint16(versionOf(m.columns))
	prefix.Uint64(uint64(prefixSize + len(header) + m.bodySize(single) + sha256.Size))
	e.write(prefix.Bytes())
	e.write(header)
	e.writeVectors(m, single)
	for _, f := range m.head.Functions {
		e.write(f.encode())
	}
	e.write(m.head.tail())
	e.write(e.sum.Sum(nil))
	if e.err != nil {
		return fmt.Errorf("model: writing: %w", e.err)
	}
	return nil
}

// versionOf returns the format version of a file. Version 2 is version 1 with names of columns.
func versionOf(columns []string) uint16 {
	if columns == nil {
		return version
	}
	return namedVersion
}

// frame writes a file, which consists of a prefix, the given content and a checksum.
func frame(w io.Writer, magic string, version uint16, content []byte) error {
	e := &encoder{w: w, sum: sha256.New()}
	var prefix wire.Writer
	prefix.Fixed([]byte(magic))
	prefix.Uint16(version)
	prefix.Uint64(uint64(prefixSize + len(content) + sha256.Size))
	e.write(prefix.Bytes())
	e.write(content)
	e.write(e.sum.Sum(nil))
	if e.err != nil {
		return fmt.Errorf("model: writing: %w", e.err)
	}
	return nil
}

// isSingle reports whether every number of the support vectors is a float32.
func (m *Model) isSingle() bool {
	for _, vector := range m.eachVector() {
		for _, v := range vector {
			if float64(float32(v)) != v {
				return false
			}
		}
	}
	return true
}

// numberSize returns the bytes per number of a support vector.
func numberSize(single bool) int {
	if single {
		return 4
	}
	return 8
}

func (m *Model) header(single bool) []byte {
	var w wire.Writer
	w.String(string(m.Kind()))
	text, err := m.spec.Canonical()
	if err != nil {
		panic(err) // unreachable: setKernel has accepted the kernel
	}
	w.String(text)
	w.Uint32(uint32(m.Width()))
	w.Uint32(uint32(m.count))
	w.Uint8(uint8(numberSize(single)))
	w.Bool(m.scale != nil)
	w.Strings(m.head.Classes)
	w.Uint32(uint32(len(m.head.Functions)))
	if m.scale != nil {
		w.Float64s(m.scale.Offset)
		w.Float64s(m.scale.Factor)
	}
	writeColumns(&w, m.columns)
	return w.Bytes()
}

func (m *Model) bodySize(single bool) int {
	size := numberSize(single) * m.count * m.width
	for _, f := range m.head.Functions {
		size += functionSize + 12*len(f.Coef)
	}
	return size + len(m.head.tail())
}

// writeVectors writes the support vectors one at a time. To encode all vectors at once could double
// the memory.
func (e *encoder) writeVectors(m *Model, single bool) {
	if m.count == 0 {
		return
	}
	var w wire.Writer
	w.Grow(m.width * numberSize(single))
	narrow := make([]float32, m.width)
	for _, vector := range m.eachVector() {
		w.Reset()
		if single {
			for j, v := range vector {
				narrow[j] = float32(v)
			}
			w.Float32s(narrow)
		} else {
			w.Float64s(vector)
		}
		e.write(w.Bytes())
	}
}

func (f *Function) encode() []byte {
	var w wire.Writer
	w.Grow(functionSize + 12*len(f.Coef))
	w.Float64(f.Rho)
	w.Uint32(uint32(len(f.Coef)))
	for _, s := range f.Index {
		w.Uint32(uint32(s))
	}
	w.Float64s(f.Coef)
	return w.Bytes()
}

// tail returns the encoded fields that only some kinds of models have.
func (h *Head) tail() []byte {
	var w wire.Writer
	switch {
	case h.Kind.Classifies():
		w.Bool(h.Sigmoids != nil)
		for _, s := range h.Sigmoids {
			w.Float64(s.A)
			w.Float64(s.B)
		}
	case h.Kind.OutputShape() == Deviation:
		w.Float64(h.Noise)
		w.Float64(h.Unit)
	}
	return w.Bytes()
}

// Private is a model that holds encoded rows. Any party could decode these rows, since the parties
// know the seed of the encoder. A Private is not a [Model], and prints only its kind and dimensions, so that
// its rows enter neither a public file nor a log by mistake.
type Private struct{ model *Model }

// NewPrivate converts m, whose support vectors are encoded rows, to a private model. It refuses a
// model with a scale, because the parties scale rows before they encode them, and keep the scale. It
// also refuses a model with column names.
func NewPrivate(m *Model) (*Private, error) {
	if m.scale != nil {
		return nil, errors.New("model: the private model has a scale; it must not have one, since parties scale rows before they encode them")
	}
	if m.columns != nil {
		return nil, errors.New("model: the private model has column names; it must not have any, since only parties are allowed to know them")
	}
	return &Private{model: m}, nil
}

// Kernel returns the kernel with every parameter explicit.
func (p *Private) Kernel() kernel.Spec { return p.model.Kernel() }

// Output returns the meaning of the outputs. The caller must not change it.
func (p *Private) Output() Output { return p.model.Output() }

// Width returns the width of an encoded row.
func (p *Private) Width() int { return p.model.Width() }

// Support returns the number of rows.
func (p *Private) Support() int { return p.model.count }

// Decisions computes the outputs for encoded rows, under the conditions of [Model.Decisions].
func (p *Private) Decisions(encoded linalg.Matrix[float64]) (linalg.Matrix[float64], error) {
	return p.model.Decisions(encoded)
}

// String returns the kind and the dimensions of the model.
func (p Private) String() string {
	return fmt.Sprintf("private %s model over %d encoded rows of width %d", p.model.Kind(), p.model.count, p.model.Width())
}

// GoString keeps %#v from printing the rows.
func (p Private) GoString() string { return p.String() }

package model

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// DefaultBytes is the size of the largest accepted file if [Limits] sets no size.
const DefaultBytes = 4 << 30

// Limits bound the files that are read. The zero value has the default.
type Limits struct {
	Bytes int64 // largest size of a file in bytes; 0 means DefaultBytes
}

// Open reads a public model under the default limits. For a private model it returns [ErrPrivate] and
// reads no further. A file that is not a model, is damaged or exceeds the limits gives an error for
// which errors.Is(err, [ErrFormat]) holds.
func Open(r io.Reader) (*Model, error) { return Limits{}.Open(r) }

// OpenPrivate reads a private model under the default limits. Only the coordinator, which wrote it,
// can use it. Errors are those of Open, except ErrPrivate.
func OpenPrivate(r io.Reader) (*Private, error) { return Limits{}.OpenPrivate(r) }

// Open reads a public model under the limits l. It returns the errors of the function Open.
func (l Limits) Open(r io.Reader) (*Model, error) { return l.read(r, publicMagic) }

// OpenPrivate reads a private model under the limits l. It returns the errors of the function OpenPrivate.
func (l Limits) OpenPrivate(r io.Reader) (*Private, error) {
	m, err := l.read(r, privateMagic)
	if err != nil {
		return nil, err
	}
	return NewPrivate(m)
}

func formatError(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFormat, fmt.Errorf(format, args...))
}

func (l Limits) read(r io.Reader, magic string) (*Model, error) {
	content, named, err := l.content(r, magic)
	if err != nil {
		return nil, err
	}
	return decode(content, magic, named)
}

// content returns the part of a file between the prefix and the checksum. The second result tells
// whether this part includes column names.
func (l Limits) content(r io.Reader, magic string) (content []byte, named bool, err error) {
	var head [prefixSize]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false, fmt.Errorf("model: reading: %w", err)
	}
	if err := checkMagic(head[:n], magic); err != nil {
		return nil, false, err
	}
	newest := uint16(version)
	if magic == publicMagic || magic == randomMagic {
		newest = namedVersion
	}
	size, v, err := l.size(head[:n], newest)
	if err != nil {
		return nil, false, err
	}
	rest, err := readRest(r, size)
	if err != nil {
		return nil, false, err
	}
	content = rest[:len(rest)-sha256.Size]
	if !checksum(head[:], content, rest[len(content):]) {
		return nil, false, formatError("the file is damaged, since its checksum is wrong; copy the file again")
	}
	return content, v == namedVersion, nil
}

func checksum(head, content, want []byte) bool {
	h := sha256.New()
	h.Write(head)
	h.Write(content)
	return bytes.Equal(h.Sum(nil), want)
}

// checkMagic returns an error unless the file begins with the given magic number.
func checkMagic(head []byte, want string) error {
	got := string(head[:min(len(head), len(want))])
	switch got {
	case want:
		return nil
	case privateMagic:
		return ErrPrivate
	case publicMagic:
		switch want {
		case randomMagic:
			return formatError("the file holds a model of rows; a model of random features is expected")
		case rowlessMagic:
			return formatError("the file holds a model of rows; a model whose rows the parties hold is expected")
		}
		return formatError("the file holds a public model; a private model is expected")
	case randomMagic:
		return formatError("the file holds a model of random features, which has no rows; read it with mercer predict")
	case rowlessMagic:
		return formatError("several parties hold the rows of this model, so the file alone cannot predict; use mercer predict --job ID")
	}
	if protocol, remedy := partOf(head); protocol != "" {
		return formatError("the file is the coordinator's part of a model of protocol %s, which predicts nothing alone; %s", protocol, remedy)
	}
	return formatError("the file is not a model of Mercer; it begins with %q", got)
}

// partOf returns the protocol of a coordinator's part of a model, or "" for any other file, and
// what the user can do to predict. Such a part begins with two bytes for the length of a name, and
// then the name, which contains the protocol. The argument head can end within the name.
func partOf(head []byte) (protocol, remedy string) {
	const ask, none = "use mercer predict --job ID at a party", "this protocol is for comparisons and does not predict new rows"
	for _, p := range [][2]string{{"gram", ask}, {"fdskl", ask}, {"pp-svmv", none}, {"fd-svrg", none}, {"secureboost", none}} {
		name := "mercer/v1/" + p[0]
		start := append([]byte{byte(len(name)), 0}, name...)
		if n := min(len(head), len(start)); n > len("..mercer/v1/") && bytes.Equal(head[:n], start[:n]) && (n == len(start) || n == prefixSize) {
			return p[0], p[1]
		}
	}
	return "", ""
}

// IsPart reports whether a file is the coordinator's part of a model whose other parts the parties
// hold. Head is the beginning of the file, of 18 bytes or more.
func IsPart(head []byte) bool {
	protocol, _ := partOf(head[:min(len(head), prefixSize)])
	return protocol != ""
}

// size checks and returns the length and the version that a file states.
func (l Limits) size(head []byte, newest uint16) (int, uint16, error) {
	r := wire.NewReader(head[len(publicMagic):])
	v := r.Uint16()
	if r.Err() == nil && (v < version || v > newest) {
		return 0, 0, formatError("the file has version %d, but this program reads versions up to %d; use the program that wrote the file", v, newest)
	}
	size := r.Uint64()
	limit := l.Bytes
	if limit == 0 {
		limit = DefaultBytes
	}
	switch {
	case r.Err() != nil:
		return 0, 0, formatError("the file ends after %d bytes; copy it again", len(head))
	case size > uint64(max(limit, 0)):
		return 0, 0, formatError("the file claims to have %d bytes; at most %d are allowed", size, limit)
	case size < prefixSize+sha256.Size:
		return 0, 0, formatError("the file claims to have %d bytes, which is too short for a model", size)
	}
	return int(size), v, nil
}

// readRest reads the rest of a file after its prefix. The argument size is the length of the whole
// file. Memory grows with the bytes that arrive, not with the stated size.
func readRest(r io.Reader, size int) ([]byte, error) {
	rest := size - prefixSize
	b, err := io.ReadAll(io.LimitReader(r, int64(rest)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("model: reading: %w", err)
	case len(b) < rest:
		return nil, formatError("the file ends after %d of %d bytes; copy it again", prefixSize+len(b), size)
	case len(b) > rest:
		return nil, formatError("the file has more than the %d bytes that its prefix states; copy the file again", size)
	}
	return b, nil
}

// header is the part of the file before the support vectors.
type header struct {
	spec        kernel.Spec
	width, rows int
	single      bool // whether the numbers of support vectors are float32
	kind        Kind
	classes     []string
	functions   int
	scale       *Scale
	columns     []string // names of the columns; nil for none
}

// decode reads a model from the content of a file, without prefix and checksum.
func decode(b []byte, magic string, named bool) (*Model, error) {
	r := wire.NewReader(b)
	h := readHeader(r)
	if named {
		h.columns = readColumns(r, h.width)
	}
	if magic == privateMagic && h.scale != nil {
		r.Fail(errors.New("the private model has a scale; a private model must not have one"))
	}
	vectors := readVectors(r, h)
	head := readHead(r, h)
	if err := r.Close("its content"); err != nil {
		return nil, formatError("%w", err)
	}
	m, err := build(h.spec, h.scale, vectors, head)
	if err != nil {
		return nil, formatError("%w", err)
	}
	if m, err = m.Named(h.columns); err != nil {
		return nil, formatError("%w", err)
	}
	if h.single != m.isSingle() {
		return nil, formatError("the support vectors have numbers of %d bytes; use 4 bytes, which hold every number exactly", numberSize(h.single))
	}
	return m, nil
}

func readHeader(r *wire.Reader) header {
	var h header
	h.kind = Kind(r.String(maxKind))
	if r.Err() == nil && !h.kind.holdsRows() {
		r.Fail(fmt.Errorf("the model is of kind %q; this program knows the kinds %q", h.kind, Kinds()))
	}
	text := r.String(maxKernel)
	if r.Err() == nil {
		var err error
		if h.spec, err = kernel.Parse(text); err != nil {
			r.Fail(err)
		}
	}
	h.width, h.rows = int(r.Uint32()), int(r.Uint32())
	h.single = readNumberSize(r)
	scaled := r.Bool()
	h.classes = make([]string, r.Count(svm.MaxClasses, 2))
	for i := range h.classes {
		h.classes[i] = r.String(maxClassName)
	}
	h.functions = int(r.Uint32())
	if h.width < 1 || h.width > maxWidth || h.rows > maxVectors {
		r.Fail(fmt.Errorf("the model has %d support vectors of %d numbers; 0 to %d vectors of 1 to %d numbers are allowed", h.rows, h.width, maxVectors, maxWidth))
	}
	if scaled && hasRoom(r, 2*h.width, 8) {
		h.scale = &Scale{Offset: make([]float64, h.width), Factor: make([]float64, h.width)}
		r.Float64s(h.scale.Offset)
		r.Float64s(h.scale.Factor)
	}
	return h
}

func readNumberSize(r *wire.Reader) (single bool) {
	n := r.Uint8()
	if r.Err() == nil && n != 4 && n != 8 {
		r.Fail(fmt.Errorf("each number has %d bytes; 4 or 8 are allowed", n))
	}
	return n == 4
}

// hasRoom reports whether r still holds n items of the given size. If not, reading from r fails. Call
// it before an allocation whose size the file states.
func hasRoom(r *wire.Reader, n, size int) bool {
	if r.Err() == nil && n > r.Len()/size {
		r.Fail(wire.ErrShort)
	}
	return r.Err() == nil
}

func readVectors(r *wire.Reader, h header) linalg.Matrix[float64] {
	if !hasRoom(r, h.rows*h.width, numberSize(h.single)) {
		return linalg.Matrix[float64]{}
	}
	m := linalg.New[float64](h.rows, h.width)
	if !h.single {
		r.Float64s(m.Data)
		return m
	}
	if h.rows == 0 {
		return m // do not allocate a row: a file without vectors can state any width
	}
	narrow := make([]float32, h.width)
	for i := range h.rows {
		r.Float32s(narrow)
		for j, v := range narrow {
			m.Row(i)[j] = float64(v)
		}
	}
	return m
}

func readHead(r *wire.Reader, h header) Head {
	head := Head{Output: Output{Kind: h.kind}}
	if len(h.classes) > 0 {
		head.Classes = h.classes
	}
	if !hasRoom(r, h.functions, functionSize) {
		return head
	}
	head.Functions = make([]Function, h.functions)
	for i := range head.Functions {
		f := &head.Functions[i]
		f.Rho = r.Float64()
		n := r.Count(h.rows, 12)
		f.Index, f.Coef = make([]int, n), make([]float64, n)
		for k := range f.Index {
			f.Index[k] = int(r.Uint32())
		}
		r.Float64s(f.Coef)
	}
	readTail(r, &head)
	return head
}

func readTail(r *wire.Reader, h *Head) {
	switch {
	case h.Kind.Classifies():
		if !r.Bool() || !hasRoom(r, len(h.Functions), 16) {
			return
		}
		h.Sigmoids = make([]svm.Sigmoid, len(h.Functions))
		for i := range h.Sigmoids {
			h.Sigmoids[i] = svm.Sigmoid{A: r.Float64(), B: r.Float64()}
		}
	case h.Kind.OutputShape() == Deviation:
		h.Noise, h.Unit = r.Float64(), r.Float64()
	}
}

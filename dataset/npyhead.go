package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// npyHeader holds the header of an array in NumPy's format (NEP 1 and numpy.lib.format, versions
// 1.0, 2.0 and 3.0).
type npyHeader struct {
	descr   string // dtype as NumPy writes it, for messages
	cell    cellType
	fortran bool
	dims    []int
}

// maxNPYHeader bounds the bytes of a header; arrays of numbers need far fewer. A file could
// announce a header of up to 4 GiB.
const (
	maxNPYHeader = 1 << 16
	maxDims      = 32
	maxText      = 1 << 12 // most characters in a string of an array, and most bytes in a text of a parquet file
)

var errNotNPY = errors.New("the data do not start like a NumPy array; save the array with numpy.save or numpy.savez")

func readNPYHeader(r io.Reader) (npyHeader, error) {
	length, err := npyHeaderLength(r)
	if err != nil {
		return npyHeader{}, err
	}
	if length > maxNPYHeader {
		return npyHeader{}, fmt.Errorf("the header takes %d bytes, more than the %d allowed; save the array without field names", length, maxNPYHeader)
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return npyHeader{}, cutHeader(err)
	}
	return parseNPYHeader(string(b))
}

func npyHeaderLength(r io.Reader) (int, error) {
	var b [12]byte
	if _, err := io.ReadFull(r, b[:8]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0, errNotNPY
		}
		return 0, cutHeader(err)
	}
	if string(b[:6]) != "\x93NUMPY" {
		return 0, errNotNPY
	}
	size := 4
	switch b[6] {
	case 1:
		size = 2
	case 2, 3:
	default:
		return 0, fmt.Errorf("the array's format is version %d.%d; save it as version 1, 2 or 3", b[6], b[7])
	}
	if _, err := io.ReadFull(r, b[8:8+size]); err != nil {
		return 0, cutHeader(err)
	}
	return int(binary.LittleEndian.Uint32(b[8:])), nil // if the length takes two bytes, b[10] and b[11] are zeros
}

func cutHeader(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading fails in the header (%w); copy the file again", err)
}

// parseNPYHeader reads the header's Python dictionary.
func parseNPYHeader(s string) (npyHeader, error) {
	p := &pyParser{rest: s}
	h, seen := npyHeader{}, map[string]bool{}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		key := p.quoted()
		p.expect(":")
		switch key {
		case "descr":
			h.descr = p.dtype()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.dims = p.tuple()
		default:
			p.fail(fmt.Errorf("the header has the unknown key %s; save the array with numpy.save", quote(key)))
		}
		if seen[key] = true; !p.accept(",") {
			p.expect("}")
			break
		}
	}
	if p.err == nil && len(seen) != 3 {
		p.fail(errBadHeader)
	}
	if p.err != nil {
		return npyHeader{}, p.err
	}
	var err error
	h.cell, err = parseDescr(h.descr)
	return h, err
}

var (
	errBadHeader  = errors.New("the header does not have the keys \"descr\", \"fortran_order\" and \"shape\" of NumPy; save the array with numpy.save")
	errStructured = errors.New("the array has named fields; save its columns as one array of numbers")
)

// parseDescr reads a dtype such as <f8 or |u1.
func parseDescr(descr string) (cellType, error) {
	refused := fmt.Errorf("the array holds %s; save it as float16, float32, float64, int, uint or bool", quote(descr))
	if len(descr) < 2 {
		return cellType{}, refused
	}
	c := cellType{order: binary.LittleEndian}
	switch descr[0] {
	case '>':
		c.order = binary.BigEndian
	case '<', '|':
	default:
		return cellType{}, refused
	}
	if c.kind = descr[1]; c.kind == 'O' {
		return cellType{}, errors.New("the array holds Python objects, which only Python can read; save it as numbers, or labels as dtype str")
	}
	size, err := strconv.Atoi(descr[2:])
	if err != nil {
		return cellType{}, refused
	}
	c.size = size
	if c.isText() {
		return c, checkText(c)
	}
	if c.number() == nil || descr[0] == '|' && size > 1 {
		return cellType{}, refused
	}
	return c, nil
}

// isText reports whether the cells are strings of fixed width, in bytes or in UTF-32.
func (c cellType) isText() bool { return c.kind == 'S' || c.kind == 'U' }

func (c cellType) width() int {
	if c.kind == 'U' {
		return 4 * c.size
	}
	return c.size
}

func checkText(c cellType) error {
	if c.size < 1 || c.size > maxText {
		return fmt.Errorf("the array holds strings of %d characters; 1 to %d are allowed", c.size, maxText)
	}
	return nil
}

// pyParser reads the Python literals that a header can contain. After a failure it reads nothing
// more.
type pyParser struct {
	rest string
	err  error
}

func (p *pyParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.rest = ""
}

// accept skips blanks and then token, and reports whether it found token.
func (p *pyParser) accept(token string) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(p.rest, token)
	p.rest = rest
	return ok
}

func (p *pyParser) expect(token string) {
	if !p.accept(token) {
		p.fail(errBadHeader)
	}
}

func (p *pyParser) quoted() string {
	for _, q := range []string{"'", `"`} {
		if !p.accept(q) {
			continue
		}
		if s, rest, ok := strings.Cut(p.rest, q); ok {
			p.rest = rest
			return s
		}
	}
	p.fail(errBadHeader)
	return ""
}

func (p *pyParser) dtype() string {
	if p.accept("[") {
		p.fail(errStructured)
		return ""
	}
	return p.quoted()
}

func (p *pyParser) boolean() bool {
	if p.accept("True") {
		return true
	}
	p.expect("False")
	return false
}

func (p *pyParser) tuple() []int {
	dims := []int{}
	p.expect("(")
	for p.err == nil && !p.accept(")") {
		if len(dims) == maxDims {
			p.fail(fmt.Errorf("the array has more than %d dimensions; reshape it to rows and columns", maxDims))
		}
		dims = append(dims, p.whole())
		if !p.accept(",") {
			p.expect(")")
			break
		}
	}
	return dims
}

// whole reads an integer below 2^40. The bound keeps the checks of the shape from overflowing.
func (p *pyParser) whole() int {
	p.accept("") // skips blanks
	digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "0123456789"))]
	n, err := strconv.ParseInt(digits, 10, 41)
	if err != nil {
		p.fail(fmt.Errorf("the header's shape is not a tuple of whole numbers below 2^40; save the array with numpy.save"))
		return 0
	}
	p.rest = strings.TrimPrefix(p.rest[len(digits):], "L") // Python 2 wrote an L after large integers
	return int(n)
}

package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// labelCells reads labels from cells of fixed width.
type labelCells struct {
	cell     cellType
	read     func([]byte) (string, error)
	size     int
	labeller labeller
}

func (l *labelCells) all(r io.Reader, n int) ([]string, error) {
	labels := make([]string, 0, min(n, firstCells))
	chunk := make([]byte, max(readAhead/l.size, 1)*l.size)
	for len(labels) < n {
		b := chunk[:min(len(chunk), (n-len(labels))*l.size)]
		if got, err := io.ReadFull(r, b); err != nil {
			return nil, short(err, len(labels)+got/l.size, n)
		}
		for ; len(b) > 0; b = b[l.size:] {
			label, err := l.read(b[:l.size])
			if err == nil {
				label, err = l.labeller.canonical(label)
			}
			if err != nil {
				return nil, fmt.Errorf("entry %d %w; correct it or drop the row", len(labels)+1, err)
			}
			labels = append(labels, label)
		}
	}
	return labels, atEnd(r)
}

// label returns what reads a cell as a label. Integers keep all their digits.
func (c cellType) label() func([]byte) (string, error) {
	switch {
	case c.kind == 'S':
		return func(b []byte) (string, error) { return plainText(string(bytes.TrimRight(b, "\x00"))) }
	case c.kind == 'U':
		return c.utf32
	case c.kind == 'u' && c.size == 8:
		return func(b []byte) (string, error) { return strconv.FormatUint(c.order.Uint64(b), 10), nil }
	case c.kind == 'i' && c.size == 8:
		return func(b []byte) (string, error) { return strconv.FormatInt(int64(c.order.Uint64(b)), 10), nil }
	}
	number := c.number()
	return func(b []byte) (string, error) { return formatNumber(number(b)), nil }
}

// utf32 reads code points, padded with zeros.
func (c cellType) utf32(b []byte) (string, error) {
	var s []byte
	for ; len(b) > 0; b = b[4:] {
		v := c.order.Uint32(b)
		if v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
			return "", errNotText
		}
		s = utf8.AppendRune(s, rune(v))
	}
	return plainText(string(bytes.TrimRight(s, "\x00")))
}

var errNotText = errors.New("is no readable text")

func plainText(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", errNotText
	}
	return s, nil
}

// formatNumber writes a number as labels are written; NaN and infinities come
// out as what labellers refuse.
func formatNumber(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

package scale

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/linalg"
)

// Statistics are what a party tells the leader about its rows: for each column
// two numbers, the least and greatest value (MinMax), or the mean and the sum
// of squared deviations from it (Standard).
type Statistics struct {
	Method Method
	Rows   int
	// First and Second have one number for each column.
	First, Second []float64
}

const (
	// limit bounds values, so that a difference of two, squared and summed
	// over maxRows rows, is still finite.
	limit   = 1e140
	maxRows = 1 << 40
	// panelRows is how many rows Summarize adds up before it combines.
	panelRows = 256
)

// Summarize returns the statistics of rows, n x f with n, f >= 1. It refuses
// values that are not finite or exceed 1e140 in magnitude.
func Summarize(rows linalg.Matrix[float64], method Method) (Statistics, error) {
	if err := method.validate(); err != nil {
		return Statistics{}, err
	}
	switch {
	case rows.Rows == 0:
		return Statistics{}, errors.New("scale: there are no rows to summarise; a party without rows cannot take part")
	case rows.Cols == 0 || rows.Cols > MaxColumns:
		return Statistics{}, fmt.Errorf("scale: %d columns; 1 to %d can be scaled", rows.Cols, MaxColumns)
	}
	for i := range rows.Rows {
		for j, x := range rows.Row(i) {
			if !(math.Abs(x) <= limit) {
				return Statistics{}, fmt.Errorf("scale: row %d, column %d (from 1) holds %v; values must be finite and at most %g in magnitude", i+1, j+1, x, limit)
			}
		}
	}
	return summarize(rows, method), nil
}

func summarize(rows linalg.Matrix[float64], method Method) Statistics {
	f := rows.Cols
	s := Statistics{Method: method, Rows: rows.Rows, First: make([]float64, f), Second: make([]float64, f)}
	if method == MinMax {
		extremes(rows, s.First, s.Second)
		return s
	}
	all, panel := columns{s.First, s.Second}, columns{make([]float64, f), make([]float64, f)}
	n := 0
	for lo := 0; lo < rows.Rows; lo += panelRows {
		p := rows.Panel(lo, min(lo+panelRows, rows.Rows))
		moments(p, panel.first, panel.second)
		merge(Standard, all, n, panel, p.Rows)
		n += p.Rows
	}
	return s
}

// extremes writes the least and greatest value of each column.
func extremes(rows linalg.Matrix[float64], low, high []float64) {
	copy(low, rows.Row(0))
	copy(high, rows.Row(0))
	for i := 1; i < rows.Rows; i++ {
		for j, x := range rows.Row(i) {
			low[j] = min(low[j], x)
			high[j] = max(high[j], x)
		}
	}
	for j := range low { // -0 becomes 0
		low[j] += 0
		high[j] += 0
	}
}

// moments writes the mean of each column and the sum of squared deviations
// from it. Values are taken relative to the first row, which makes a constant
// column's deviation exactly zero. The conversions keep compilers from fusing
// products into sums, which would give other bits on other machines.
func moments(rows linalg.Matrix[float64], mean, m2 []float64) {
	clear(mean)
	clear(m2)
	shift, n := rows.Row(0), float64(rows.Rows)
	for i := range rows.Rows {
		for j, x := range rows.Row(i) {
			mean[j] += x - shift[j]
		}
	}
	for j := range mean {
		mean[j] = shift[j] + float64(mean[j]/n)
	}
	for i := range rows.Rows {
		for j, x := range rows.Row(i) {
			d := x - mean[j]
			m2[j] += float64(d * d)
		}
	}
}

// Hash is the SHA-256 of the encoding of s, for protocol.Start.
func (s Statistics) Hash() [sha256.Size]byte {
	h := sha256.New()
	var w wire.Writer
	w.String("mercer/v1/scale/statistics")
	w.String(string(s.Method))
	w.Uint64(uint64(s.Rows))
	w.Uint32(uint32(len(s.First)))
	h.Write(w.Bytes()) // a hash takes every write
	const piece = 1 << 13
	for _, v := range [][]float64{s.First, s.Second} {
		for lo := 0; lo < len(v); lo += piece {
			var w wire.Writer
			w.Float64s(v[lo:min(lo+piece, len(v))])
			h.Write(w.Bytes())
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// validate refuses statistics that no rows have.
func (s Statistics) validate() error {
	switch {
	case len(s.First) == 0 || len(s.First) > MaxColumns || len(s.First) != len(s.Second):
		return fmt.Errorf("scale: statistics of %d and %d columns; make them with Summarize", len(s.First), len(s.Second))
	case s.Rows < 1 || s.Rows > maxRows:
		return fmt.Errorf("scale: statistics of %d rows; make them with Summarize", s.Rows)
	}
	if err := check(s.Method, s.Rows, columns{s.First, s.Second}); err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	return nil
}

// check refuses numbers that are not the statistics of any rows.
func check(m Method, rows int, c columns) error {
	for j, a := range c.first {
		b := c.second[j]
		ok := math.Abs(a) <= 2*limit // a mean may exceed the values by a rounding
		if m == MinMax {
			ok = ok && a <= b && b <= 2*limit && (rows > 1 || a == b)
		} else {
			ok = ok && b >= 0 && b <= float64(rows)*(4*limit)*limit && (rows > 1 || b == 0)
		}
		if !ok {
			return fmt.Errorf("%v and %v are not the %s statistics of a column of %d rows", a, b, m, rows)
		}
	}
	return nil
}

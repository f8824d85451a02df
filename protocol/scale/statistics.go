package scale

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
)

// Statistics is a party's summary of its rows for the leader. It has two numbers for each column:
// the least and greatest value (MinMax), or the mean and the sum of squared deviations from the
// mean (Standard).
type Statistics struct {
	Method Method
	Rows   int
	// First and Second hold the two statistics of each column.
	First, Second []float64
}

const (
	// limit is the largest magnitude of a value. It keeps sums of squared differences over
	// maxRows rows finite.
	limit   = 1e140
	maxRows = 1 << 40
	// panelRows is the number of rows that Summarize processes at a time. Summarize then merges the
	// statistics of these rows with the total.
	panelRows = 256
)

// Summarize returns the statistics of rows, an n x f matrix with n, f >= 1. It returns an error for
// values that are not finite or exceed 1e140 in magnitude.
func Summarize(rows linalg.Rows, method Method) (Statistics, error) {
	_, f := rows.Shape()
	s := NewSummary(f, method)
	if err := s.Add(rows); err != nil {
		return Statistics{}, err
	}
	return s.Statistics()
}

// Summary makes the statistics of rows that come in blocks. It holds at most 256 rows in memory.
type Summary struct {
	method  Method
	rows    int     // number of rows in all
	all     columns // statistics of the merged rows
	merged  int     // number of merged rows
	panel   linalg.Matrix[float64]
	pending int // number of rows of the panel that are not merged yet
}

// NewSummary returns an empty summary for rows of f columns.
func NewSummary(f int, method Method) *Summary {
	s := &Summary{method: method}
	if f > 0 && f <= MaxColumns {
		s.all, s.panel = columns{make([]float64, f), make([]float64, f)}, linalg.New[float64](panelRows, f)
	}
	return s
}

// Add adds rows. How the rows are divided into calls of Add does not change the statistics. It
// returns an error if the method is unknown, if the number of columns is wrong, or if [Summarize]
// refuses a value.
func (s *Summary) Add(rows linalg.Rows) error {
	if err := s.method.validate(); err != nil {
		return err
	}
	n, f := rows.Shape()
	switch {
	case f == 0 || f > MaxColumns:
		return fmt.Errorf("scale: the table has %d columns; 1 to %d are allowed", f, MaxColumns)
	case f != s.panel.Cols:
		return fmt.Errorf("scale: rows of %d columns cannot be added to rows of %d columns", f, s.panel.Cols)
	}
	for i := range n {
		row := s.panel.Row(s.pending)
		rows.ReadRow(i, row)
		s.rows++
		for j, x := range row {
			if !(math.Abs(x) <= limit) {
				return fault.OfNumber(x).Errorf("scale: row %d, column %d (from 1) holds %v; values must be finite and at most %g in magnitude", s.rows, j+1, x, limit)
			}
		}
		if s.pending++; s.pending == panelRows {
			s.merge()
		}
	}
	return nil
}

// merge merges the statistics of the panel's rows into the statistics of all earlier rows.
func (s *Summary) merge() {
	of := columns{make([]float64, s.panel.Cols), make([]float64, s.panel.Cols)}
	rows := s.panel.Panel(0, s.pending)
	if s.method == MinMax {
		findExtremes(rows, of.first, of.second)
	} else {
		findMoments(rows, 0, s.pending, of.first, of.second)
	}
	merge(s.method, s.all, s.merged, of, s.pending)
	s.merged, s.pending = s.merged+s.pending, 0
}

// Statistics returns the statistics of all rows. It returns an error if there is no row. Rows must
// not be added later.
func (s *Summary) Statistics() (Statistics, error) {
	if s.rows == 0 {
		return Statistics{}, errors.New("scale: there are no rows to summarise")
	}
	if s.pending > 0 {
		s.merge()
	}
	return Statistics{Method: s.method, Rows: s.rows, First: s.all.first, Second: s.all.second}, nil
}

// findExtremes writes the least value of each column to low and the greatest to high.
func findExtremes(rows linalg.Rows, low, high []float64) {
	n, f := rows.Shape()
	row := make([]float64, f)
	rows.ReadRow(0, low)
	rows.ReadRow(0, high)
	for i := 1; i < n; i++ {
		rows.ReadRow(i, row)
		for j, x := range row {
			low[j] = min(low[j], x)
			high[j] = max(high[j], x)
		}
	}
	for j := range low { // replace -0 by 0
		low[j] += 0
		high[j] += 0
	}
}

// findMoments computes the mean of each column over rows lo to hi-1. It also computes the sum of
// squared deviations from the mean. For the mean it subtracts the first row from all values, which
// makes a constant column's deviation exactly zero. The conversions keep compilers from fusing products
// into sums, which would give other bits on other machines.
func findMoments(rows linalg.Rows, lo, hi int, mean, m2 []float64) {
	clear(mean)
	clear(m2)
	row, shift, n := make([]float64, len(mean)), make([]float64, len(mean)), float64(hi-lo)
	rows.ReadRow(lo, shift)
	for i := lo; i < hi; i++ {
		rows.ReadRow(i, row)
		for j, x := range row {
			mean[j] += x - shift[j]
		}
	}
	for j := range mean {
		mean[j] = shift[j] + float64(mean[j]/n)
	}
	for i := lo; i < hi; i++ {
		rows.ReadRow(i, row)
		for j, x := range row {
			d := x - mean[j]
			m2[j] += float64(d * d)
		}
	}
}

// Nothing returns the statistics of a party without training rows. For example, all rows of the
// party may be held out. The party takes part to receive the scaling.
func Nothing(columns int, method Method) Statistics {
	return Statistics{Method: method, First: make([]float64, columns), Second: make([]float64, columns)}
}

// Hash returns the SHA-256 of the encoding of s, for [protocol.Start].
func (s Statistics) Hash() [sha256.Size]byte {
	h := sha256.New()
	var w wire.Writer
	w.String("mercer/v1/scale/statistics")
	w.String(string(s.Method))
	w.Uint64(uint64(s.Rows))
	w.Uint32(uint32(len(s.First)))
	h.Write(w.Bytes()) // a hash never returns an error
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

// validate returns an error for statistics that no rows can have.
func (s Statistics) validate() error {
	switch {
	case len(s.First) == 0 || len(s.First) > MaxColumns || len(s.First) != len(s.Second):
		return fmt.Errorf("scale: the statistics have %d numbers in First and %d in Second; both need one number for each column; make them with Summarize", len(s.First), len(s.Second))
	case s.Rows < 0 || s.Rows > maxRows:
		return fmt.Errorf("scale: the statistics have a wrong number of rows, %d; make them with Summarize", s.Rows)
	}
	if err := check(s.Method, s.Rows, columns{s.First, s.Second}); err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	return nil
}

// check returns an error for numbers that are not the statistics of any rows.
func check(m Method, rows int, c columns) error {
	for j, a := range c.first {
		b := c.second[j]
		if rows == 0 && (a != 0 || b != 0) {
			return fmt.Errorf("the statistics of a party without rows are %v and %v; they must be zero", a, b)
		}
		ok := math.Abs(a) <= 2*limit // rounding can give a mean slightly above all values
		if m == MinMax {
			ok = ok && a <= b && b <= 2*limit && (rows > 1 || a == b)
		} else {
			ok = ok && b >= 0 && b <= float64(rows)*(4*limit)*limit && (rows > 1 || b == 0)
		}
		if !ok {
			return fmt.Errorf("%v and %v cannot be the %s statistics of a column with %d rows", a, b, m, rows)
		}
	}
	return nil
}

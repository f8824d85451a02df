package fdskl

import (
	"bytes"
	"math"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Exposure measures how well the active worker's phases reveal the kernel of the other workers'
// columns. The active worker should not learn this kernel, because every function of distances
// between rows follows from the kernel.
type Exposure struct {
	Pairs       int     // number of pairs of rows that were measured
	Correlation float64 // correlation of estimated and true kernel values; NaN if all values are equal
	Deviation   float64 // root of the mean squared error of the estimated kernel values
}

// Expose compares the kernel values that the phases reveal with the true kernel values, for some
// pairs of rows. The function kernel returns the true value for two rows over the columns of all
// workers except the active worker. The argument source supplies the active worker's part.
func (t *Table) Expose(source Source, pairs [][2]int, kernel func(i, j int) float64) Exposure {
	estimates, truth := make([]float64, len(pairs)), make([]float64, len(pairs))
	rest := make(map[int][]byte)
	for k, p := range pairs {
		for _, row := range p {
			if rest[row] == nil {
				rest[row] = t.othersSum(source, row)
			}
		}
		estimates[k], truth[k] = similarity(t.params.ring(), rest[p[0]], rest[p[1]]), kernel(p[0], p[1])
	}
	return Exposure{len(pairs), correlation(estimates, truth), deviation(estimates, truth)}
}

// othersSum returns, for one row, the sum of the words of all workers except the active worker.
func (t *Table) othersSum(own Source, row int) []byte {
	words := bytes.Clone(t.Row(row))
	part := make([]byte, len(words))
	own.Block(part, []int{row}, 0, t.params.spec.Directions)
	t.params.ring().sub(words, part)
	return words
}

// similarity estimates the kernel value of two rows. It is the mean, over all directions, of the
// cosine of the rows' phase difference. It is an unbiased estimate of the kernel value over the
// other workers' columns, with a deviation of at most (2 M)^-1/2 for M directions. In mode paper,
// the offset of a direction cancels in the phase difference.
func similarity(r ring, a, b []byte) float64 {
	difference := bytes.Clone(a)
	r.sub(difference, b)
	sum, n := 0.0, len(a)/r.bytes()
	for k := range n {
		sum += math.Cos(2 * math.Pi * math.Ldexp(float64(r.word(difference, k)), -int(r)))
	}
	return sum / float64(n)
}

func correlation(a, b []float64) float64 {
	var ab, aa, bb float64
	ma, mb := linalg.Mean(a), linalg.Mean(b)
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

func deviation(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// Table is a schedule for a single active worker that requests every phase once and keeps all
// phases. It requests all rows in all directions once, and holds the only copy of the words.
type Table struct {
	params Params
	words  []byte
	asked  int // number of directions requested so far
}

// NewTable returns an empty table for a session's rows and directions. The full table takes Rows x
// Directions x Bits/8 bytes.
func NewTable(p Params) *Table { return &Table{params: p} }

// Next returns a request for all rows in the next directions, as many as fit in a message.
func (t *Table) Next() (Request, bool) {
	s := t.params.spec
	if t.words == nil {
		t.words = make([]byte, s.Rows*t.stride())
	}
	first := t.asked
	t.asked = min(first+protocol.MaxChunkBytes/t.params.ring().bytes(), s.Directions)
	return Request{Rows: []Span{{0, s.Rows}}, Directions: Span{first, t.asked - first}}, first < s.Directions
}

// Answer stores the words of some rows in the table.
func (t *Table) Answer(rows []int, words []byte) {
	width := len(words) / len(rows)
	at := t.asked*t.params.ring().bytes() - width
	for i, r := range rows {
		copy(t.words[r*t.stride()+at:], words[i*width:(i+1)*width])
	}
}

// stride returns the size of a table row in bytes.
func (t *Table) stride() int { return t.params.spec.Directions * t.params.ring().bytes() }

// Words returns all words, little-endian, row after row, without copying them. They are complete
// once the machine has ended without error.
func (t *Table) Words() []byte { return t.words }

// Row returns the words of row i in all directions.
func (t *Table) Row(i int) []byte { return t.words[i*t.stride() : (i+1)*t.stride()] }

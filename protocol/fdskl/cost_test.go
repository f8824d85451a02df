package fdskl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// meter counts what the workers of a session compute and send.
type meter struct {
	terms int64        // multiply-adds of inner products of a row's part and a direction's part
	draws atomic.Int64 // random numbers drawn for directions
	words int64        // words of partial sums in messages
}

// metered are the phases of a worker's columns, counted.
type metered struct {
	*feature.Phases
	columns int
	m       *meter
}

func (s metered) Block(dst []byte, rows []int, first, count int) {
	s.m.terms += int64(len(rows) * count * s.columns)
	s.Phases.Block(dst, rows, first, count)
}

// drawn are random numbers, counted.
type drawn struct {
	feature.Numbers
	m *meter
}

func (d drawn) NormFloat64() float64 {
	d.m.draws.Add(1)
	return d.Numbers.NormFloat64()
}

// costs runs Algorithm 1 for t iterations on as many rows, each drawn once, of d columns that q
// workers share evenly.
func costs(t *testing.T, mode Mode, iterations, d, q int) *meter {
	t.Helper()
	m, rng := new(meter), rand.New(rand.NewPCG(7, 8))
	v := vectors{Rows: rng.Perm(iterations), Y: make([]float64, iterations), Gamma: .1, Lambda: .01}
	var sources []Source
	for w := range q {
		part := linalg.New[float64](iterations, d/q)
		for i := range part.Data {
			part.Data[i] = rng.NormFloat64()
		}
		sources = append(sources, metered{feature.NewPhases(part, feature.Directions{
			Spectrum: feature.RBF(.5), Columns: d / q,
			Entries: func(block, column int) feature.Numbers {
				return drawn{prg.New([32]byte{byte(w)}, "test/entries", []byte{byte(block), byte(column)}), m}
			},
		}, 32), d / q, m})
	}
	f := joined(t, Spec{Mode: mode, Bits: 32, Rows: iterations, Directions: iterations}, sources)
	_, r := f.run(t, func() Schedule {
		return &stochastic{vectors: v, loss: "square", ring: 32, phases: make(map[int][]float64)}
	}, func(message protocol.Message) []protocol.Message {
		if slices.Contains([]uint16{roundPhases, roundMasks}, message.Round) {
			m.words += int64(len(message.Body) / 4)
		}
		return []protocol.Message{message}
	})
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

// The paper's costs of t iterations are of order d q t^2 for computing and q t^2 for words (Gu et
// al. 2020, section 3.3). Counted in sessions: the words grow with q - 1 and with t^2 and do not
// depend on d. The multiply-adds grow with d and t^2 and do not depend on q, because every worker
// computes its own columns only; random numbers for directions grow with d and t alone, because
// workers keep them. In mode paper the second tree doubles the words. Masks are not counted.
func TestCostsByColumnsWorkersAndIterations(t *testing.T) {
	for _, tt := range []struct{ iterations, d, q int }{{64, 8, 2}, {64, 16, 2}, {64, 8, 4}, {64, 8, 8}, {128, 8, 4}, {128, 16, 4}} {
		t.Run(fmt.Sprintf("t=%d, d=%d, q=%d", tt.iterations, tt.d, tt.q), func(t *testing.T) {
			if testing.Short() && tt.iterations > 64 {
				t.Skip("long")
			}
			m := costs(t, Hardened, tt.iterations, tt.d, tt.q)
			values := int64(tt.iterations * (tt.iterations + 1) / 2) // the first row needs one direction, the last all
			t.Logf("%d words, %d multiply-adds, %d random numbers", m.words, m.terms, m.draws.Load())
			if want := values * int64(tt.q-1); m.words != want {
				t.Errorf("%d words, want %d", m.words, want)
			}
			if want := values * int64(tt.d); m.terms != want {
				t.Errorf("%d multiply-adds, want %d", m.terms, want)
			}
			if want := int64(tt.iterations * tt.d); m.draws.Load() != want {
				t.Errorf("%d random numbers, want %d", m.draws.Load(), want)
			}
		})
	}
	hardened, paper := costs(t, Hardened, 64, 8, 4), costs(t, Paper, 64, 8, 4)
	if paper.terms != hardened.terms || paper.words != 2*hardened.words {
		t.Errorf("mode paper has %d words and %d multiply-adds, hardened %d and %d", paper.words, paper.terms, hardened.words, hardened.terms)
	}
}

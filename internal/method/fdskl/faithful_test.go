package fdskl

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// twinOfAlgorithm1 is Algorithm 1 of the paper in one place, over the cosine and the sine of every
// phase. It takes a row for each direction, and steps by a constant rate.
type twinOfAlgorithm1 struct {
	rate, lambda float64
	slope        func(u, y float64) float64 // derivative of the loss with respect to u
	directions   []int                      // of the iterations so far
	cos, sin     []float64                  // coefficients of these directions
}

// decide returns the decision for a row with the given phases, one for each direction.
func (a *twinOfAlgorithm1) decide(phases []float64) (u float64) {
	for k, j := range a.directions {
		u += a.cos[k]*math.Cos(phases[j]) + a.sin[k]*math.Sin(phases[j])
	}
	return u
}

// step makes an iteration with a new direction and a row that has the target y.
func (a *twinOfAlgorithm1) step(phases []float64, direction int, y float64) {
	slope := a.slope(a.decide(phases), y)
	for k := range a.cos {
		a.cos[k] *= 1 - a.rate*a.lambda
		a.sin[k] *= 1 - a.rate*a.lambda
	}
	a.directions = append(a.directions, direction)
	a.cos = append(a.cos, -a.rate*slope*math.Cos(phases[direction]))
	a.sin = append(a.sin, -a.rate*slope*math.Sin(phases[direction]))
}

func logisticSlope(u, y float64) float64 { return -y / (1 + math.Exp(y*u)) }

// A job with training faithful makes the iterations of Algorithm 1 with the job's loss, rate and
// lambda, for each of several classes against the others, too.
func TestFaithfulTrainingIsAlgorithm1(t *testing.T) {
	const rows, train, directions = 40, 30, 256
	two, three := strings.Fields(strings.Repeat("1 2 2 ", rows))[:rows], strings.Fields(strings.Repeat("1 2 3 1 ", rows))[:rows]
	for _, tt := range []struct {
		learning     string
		rate, lambda float64
		slope        func(u, y float64) float64
		labels       []string
	}{
		{"logistic, rate: 0.5, lambda: 0.1", .5, .1, logisticSlope, two},
		{"logistic, rate: 2, lambda: 1.0e-3", 2, 1e-3, logisticSlope, three},
		{"smooth-hinge, rate: 0.25, lambda: 0.2", .25, .2, func(u, y float64) float64 { return -y * min(1, max(0, 1-y*u)) }, two},
		{"squared, rate: 0.125, lambda: 0.05", .125, .05, func(u, y float64) float64 { return 2 * (u - y) }, three},
		{"huber, delta: 0.5, rate: 0.125, lambda: 0.3", .125, .3, func(u, y float64) float64 { return min(.5, max(-.5, u-y)) }, three},
	} {
		j, seed := random(t, ", bits: 32, training: faithful", tt.learning), [32]byte{7}
		source, phases := somePhases(t, j, rows, directions)
		s, err := NewSolver(j, tt.labels, train, seed)
		if err != nil {
			t.Fatal(err)
		}
		if err := AnswerAll(t.Context(), s, source, 4); err != nil {
			t.Fatal(err)
		}
		got, err := s.Learn(nil)
		if err != nil {
			t.Fatal(err)
		}
		targets := s.Outputs().Y
		coefficients, decisions := linalg.New[float64](targets.Rows, 2*directions), linalg.New[float64](targets.Rows, rows-train)
		for k := range targets.Rows {
			twin, batches := twinOfAlgorithm1{rate: tt.rate, lambda: tt.lambda, slope: tt.slope}, prg.New(seed, "fdskl/batches")
			for direction := range directions {
				row := int(batches.Uint64n(train))
				twin.step(phases[row], direction, targets.Row(k)[row])
			}
			for d := range directions {
				coefficients.Row(k)[2*d], coefficients.Row(k)[2*d+1] = twin.cos[d], twin.sin[d]
			}
			for i := range rows - train {
				decisions.Row(k)[i] = twin.decide(phases[train+i])
			}
		}
		sameNumbers(t, tt.learning+": coefficients", got.Coefficients, coefficients, 1e-9)
		sameNumbers(t, tt.learning+": decisions", got.Decisions, decisions, 1e-9)
	}
}

// Several active workers together make the iterations of Algorithm 1 in turns, each with its own draws and
// its own directions: each decision is by the coefficients of all of them (Algorithm 2 of the paper), and in
// each iteration all coefficients decay. The first worker's decisions on held-out rows are those of all.
func TestSeveralActiveWorkersMakeAlgorithm1(t *testing.T) {
	const rows, train, directions = 40, 30, 240
	labels := strings.Fields(strings.Repeat("1 2 2 ", rows))[:rows]
	for _, workers := range []int{2, 3} {
		for _, tt := range []struct {
			learning     string
			rate, lambda float64
			slope        func(u, y float64) float64
		}{
			{"logistic, rate: 0.5, lambda: 0.1", .5, .1, logisticSlope},
			{"squared, rate: 0.125, lambda: 0.05", .125, .05, func(u, y float64) float64 { return 2 * (u - y) }},
		} {
			j := random(t, ", bits: 32, training: faithful, active: 2", tt.learning)
			keysOf(j).Active, keysOf(j).Directions = workers, directions
			source, phases := somePhases(t, j, rows, directions)
			var all []*partner
			var draws []*prg.Stream
			for i := range workers {
				p, err := newPartner(j, labels, train, i, [32]byte{byte(i)})
				if err != nil {
					t.Fatal(err)
				}
				all, draws = append(all, p), append(draws, prg.New([32]byte{byte(i)}, "fdskl/batches"))
			}
			takeTurns(all, source)
			twin, targets := twinOfAlgorithm1{rate: tt.rate, lambda: tt.lambda, slope: tt.slope}, all[0].out.Y.Row(0)
			for iteration := range directions / workers {
				for i, d := range draws {
					row := int(d.Uint64n(train))
					twin.step(phases[row], i*directions/workers+iteration, targets[row])
				}
			}
			name := fmt.Sprintf("%d workers, %s", workers, tt.learning)
			for i, p := range all {
				want := linalg.New[float64](1, 2*directions/workers)
				for k := i; k < len(twin.cos); k += workers {
					want.Data[2*(k/workers)], want.Data[2*(k/workers)+1] = twin.cos[k], twin.sin[k]
				}
				sameNumbers(t, fmt.Sprintf("%s: coefficients of worker %d", name, i), p.optimizer.Coefficients(), want, 1e-9)
			}
			got, err := all[0].Learn(nil)
			if err != nil {
				t.Fatal(err)
			}
			decisions := linalg.New[float64](1, rows-train)
			for i := range decisions.Data {
				decisions.Data[i] = twin.decide(phases[train+i])
			}
			sameNumbers(t, name+": decisions", got.Decisions, decisions, 1e-9)
		}
	}
}

// somePhases returns a source of phases of random rows in words of 32 bits, and these phases.
func somePhases(t *testing.T, j *job.Job, rows, directions int) (source fdskl.Source, phases [][]float64) {
	t.Helper()
	x := linalg.New[float64](rows, 3)
	prg.New([32]byte{7}, "rows").Normals(x.Data)
	source, err := DirectionsOf(j, columns.Directions{Gamma: .3, Key: j.Hash(), Common: [32]byte{1}}).Phases(x, 32)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]byte, rows*directions*4)
	source.Block(words, linalg.Range(0, rows), 0, directions)
	phases = make([][]float64, rows)
	for i := range rows * directions {
		word := binary.LittleEndian.Uint32(words[4*i:])
		phases[i/directions] = append(phases[i/directions], 2*math.Pi*math.Ldexp(float64(word), -32))
	}
	return source, phases
}

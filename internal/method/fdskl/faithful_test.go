package fdskl

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// twinOfAlgorithm1 is Algorithm 1 of the paper for one active worker, over the cosine and the sine
// of every phase. It draws a row for each direction, and steps by a constant rate.
type twinOfAlgorithm1 struct {
	rate, lambda float64
	slope        func(u, y float64) float64 // derivative of the loss with respect to u
	cos, sin     []float64                  // coefficients of each direction
}

// decide returns the decision for a row with the given phases.
func (a *twinOfAlgorithm1) decide(phases []float64) (u float64) {
	for j, c := range a.cos {
		u += c*math.Cos(phases[j]) + a.sin[j]*math.Sin(phases[j])
	}
	return u
}

// step makes an iteration with a row that has the target y.
func (a *twinOfAlgorithm1) step(phases []float64, y float64) {
	slope, next := a.slope(a.decide(phases), y), len(a.cos)
	for j := range a.cos {
		a.cos[j] *= 1 - a.rate*a.lambda
		a.sin[j] *= 1 - a.rate*a.lambda
	}
	a.cos = append(a.cos, -a.rate*slope*math.Cos(phases[next]))
	a.sin = append(a.sin, -a.rate*slope*math.Sin(phases[next]))
}

// A job with training faithful makes the iterations of Algorithm 1 with the job's loss, rate and
// lambda, for each of several classes against the others, too.
func TestFaithfulTrainingIsAlgorithm1(t *testing.T) {
	const rows, train, directions = 40, 30, 256
	logistic := func(u, y float64) float64 { return -y / (1 + math.Exp(y*u)) }
	two, three := strings.Fields(strings.Repeat("1 2 2 ", rows))[:rows], strings.Fields(strings.Repeat("1 2 3 1 ", rows))[:rows]
	for _, tt := range []struct {
		learning     string
		rate, lambda float64
		slope        func(u, y float64) float64
		labels       []string
	}{
		{"logistic, rate: 0.5, lambda: 0.1", .5, .1, logistic, two},
		{"logistic, rate: 2, lambda: 1.0e-3", 2, 1e-3, logistic, three},
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
			for range directions {
				row := int(batches.Uint64n(train))
				twin.step(phases[row], targets.Row(k)[row])
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

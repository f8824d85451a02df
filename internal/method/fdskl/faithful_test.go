package fdskl

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/linalg"
)

// twinOfAlgorithm1 is Algorithm 1 of the paper for one active worker, over the cosine and the sine
// of every phase. It draws a row for each direction, and steps by a constant rate.
type twinOfAlgorithm1 struct {
	rate, lambda float64
	cos, sin     []float64 // coefficients of each direction
}

// decide returns the decision for a row with the given phases.
func (a *twinOfAlgorithm1) decide(phases []float64) (u float64) {
	for j, c := range a.cos {
		u += c*math.Cos(phases[j]) + a.sin[j]*math.Sin(phases[j])
	}
	return u
}

// step makes an iteration of logistic loss with a row that has the target y.
func (a *twinOfAlgorithm1) step(phases []float64, y float64) {
	slope, next := -y/(1+math.Exp(y*a.decide(phases))), len(a.cos)
	for j := range a.cos {
		a.cos[j] *= 1 - a.rate*a.lambda
		a.sin[j] *= 1 - a.rate*a.lambda
	}
	a.cos = append(a.cos, -a.rate*slope*math.Cos(phases[next]))
	a.sin = append(a.sin, -a.rate*slope*math.Sin(phases[next]))
}

// A job with training faithful makes the iterations of Algorithm 1 with the job's rate and lambda.
func TestFaithfulTrainingIsAlgorithm1(t *testing.T) {
	const rows, train, width, directions = 40, 30, 3, 256
	labels, seed := strings.Split(strings.TrimSpace(strings.Repeat("a b b ", rows))[:2*rows-1], " "), [32]byte{7}
	for learning, twin := range map[string]*twinOfAlgorithm1{
		"logistic, rate: 0.5, lambda: 0.1":  {rate: .5, lambda: .1},
		"logistic, rate: 2, lambda: 1.0e-3": {rate: 2, lambda: 1e-3},
	} {
		j := random(t, ", bits: 32, training: faithful", learning)
		d := DirectionsOf(j, columns.Directions{Gamma: .3, Key: j.Hash(), Common: [32]byte{1}})
		x, r := linalg.New[float64](rows, width), prg.New(seed, "rows")
		r.Normals(x.Data)
		source, err := d.Phases(x, 32)
		if err != nil {
			t.Fatal(err)
		}
		words := make([]byte, rows*directions*4)
		source.Block(words, linalg.Range(0, rows), 0, directions)
		phases := make([][]float64, rows)
		for i := range phases {
			for at := i * directions * 4; at < (i+1)*directions*4; at += 4 {
				word := uint32(words[at]) | uint32(words[at+1])<<8 | uint32(words[at+2])<<16 | uint32(words[at+3])<<24
				phases[i] = append(phases[i], 2*math.Pi*math.Ldexp(float64(word), -32))
			}
		}
		s, err := NewSolver(j, labels, train, seed)
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
		targets, batches := targetsOf(s.Outputs()), prg.New(seed, "fdskl/batches")
		for range directions {
			row := int(batches.Uint64n(train))
			twin.step(phases[row], targets[row])
		}
		for i := range rows - train {
			if a, b := got.Decisions.Row(0)[i], twin.decide(phases[train+i]); math.Abs(a-b) > 1e-6*(1+math.Abs(b)) {
				t.Errorf("%s: decision %d is %v, by Algorithm 1 %v", learning, i, a, b)
			}
		}
		coefficients := got.Coefficients.Row(0)
		if len(coefficients) != 2*directions {
			t.Fatalf("%s: %d coefficients, want %d", learning, len(coefficients), 2*directions)
		}
		for k, a := range coefficients {
			if want := [][]float64{twin.cos, twin.sin}[k%2][k/2]; !(math.Abs(a-want) <= 1e-9) {
				t.Fatalf("%s: coefficient %d is %v, by Algorithm 1 %v", learning, k, a, want)
			}
		}
	}
}

// targetsOf returns the targets of training rows with two classes.
func targetsOf(o *learner.Outputs) []float64 { return o.Y.Row(0) }

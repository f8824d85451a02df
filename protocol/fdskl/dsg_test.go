package fdskl

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// vectors are runs of doubly stochastic gradients on pooled rows, computed in
// float64 by a script from the paper's Algorithm 1 with given directions.
type vectors struct {
	X      [][]float64 // rows x columns
	Y      []float64
	W      [][]float64 // columns x directions
	B      []float64   // a phase for each direction
	Rows   []int       `json:"idx"` // drawn in each iteration
	Gamma  float64
	Lambda float64 `json:"lam"`
	Runs   map[string][]struct {
		F     float64
		Alpha []float64 // after the iteration
	}
}

// slope is the derivative of a loss at u.
func slope(loss string, u, y float64) float64 {
	z := y * u
	switch {
	case loss == "square":
		return 2 * (u - y)
	case loss == "logistic":
		return -y / (1 + math.Exp(z))
	case z <= 0:
		return -y
	case z < 1:
		return -y * (1 - z)
	}
	return 0
}

// stochastic is the schedule of training mode faithful: one row and one new
// direction in each iteration, and of the earlier directions those in which the
// row has not been seen.
type stochastic struct {
	vectors
	loss   string
	ring   ring
	phases map[int][]float64 // of each row, in its first directions
	f      []float64         // of each iteration
	alpha  []float64
	asked  int // iterations
}

func (s *stochastic) Next() (Request, bool) {
	if s.asked > len(s.alpha) {
		s.learn()
	}
	if s.asked == len(s.Rows) {
		return Request{}, false
	}
	row := s.Rows[s.asked]
	known := len(s.phases[row])
	s.asked++
	return Request{Rows: Spans(row), Directions: Span{known, s.asked - known}}, true
}

func (s *stochastic) Answer(rows []int, words []byte) {
	for i := range len(words) / s.ring.bytes() {
		turn := math.Ldexp(float64(s.ring.word(words, i)), -int(s.ring))
		s.phases[rows[0]] = append(s.phases[rows[0]], 2*math.Pi*turn)
	}
}

// learn is lines 7 to 10 of Algorithm 1.
func (s *stochastic) learn() {
	row := s.Rows[len(s.alpha)]
	u := 0.0
	for j, a := range s.alpha {
		u += a * math.Sqrt2 * math.Cos(s.phases[row][j])
	}
	for j := range s.alpha {
		s.alpha[j] *= 1 - s.Gamma*s.Lambda
	}
	phi := math.Sqrt2 * math.Cos(s.phases[row][len(s.alpha)])
	s.f, s.alpha = append(s.f, u), append(s.alpha, -s.Gamma*slope(s.loss, u, s.Y[row])*phi)
}

// split gives each worker one column. The first adds the phases b to its own.
func (v vectors) split(bits int) []Source {
	var list []Source
	for c := range v.W {
		part := columns{ring: ring(bits)}
		for _, x := range v.X {
			part.rows = append(part.rows, []float64{x[c], 1})
		}
		for j, w := range v.W[c] {
			b := 0.0
			if c == 0 {
				b = v.B[j]
			}
			part.directions = append(part.directions, []float64{w, b})
		}
		list = append(list, part)
	}
	return list
}

// train runs a session in training mode faithful.
func (v vectors) train(t *testing.T, mode Mode, bits int, loss string) (*federation, *stochastic) {
	t.Helper()
	f := joined(t, Spec{Mode: mode, Bits: bits, Rows: len(v.X), Directions: len(v.Rows)}, v.split(bits))
	s, r := f.run(t, func() Schedule {
		return &stochastic{vectors: v, loss: loss, ring: ring(bits), phases: make(map[int][]float64)}
	}, nil)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return f, s.(*stochastic)
}

// With the same directions the federation computes what pooled rows give.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/dsg.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Runs) != 3 {
		t.Fatalf("%d runs in the file, want 3", len(v.Runs))
	}
	for loss, run := range v.Runs {
		_, s := v.train(t, Hardened, 32, loss)
		for i, step := range run {
			if math.Abs(s.f[i]-step.F) > 1e-8 {
				t.Errorf("%s: f of iteration %d is %.10f, want %.10f", loss, i, s.f[i], step.F)
			}
		}
		compare(t, loss, s.alpha, run[len(run)-1].Alpha, 1e-8)
	}
}

// compare demands that coefficients agree.
func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d coefficients, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: coefficient %d is %.10f, want %.10f", what, i, got[i], want[i])
		}
	}
}

// Both modes agree with pooled rows over many iterations, up to the rounding of words. In mode
// paper the directions' phases are the protocol's.
func TestFaithfulEqualsPooled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rng := rand.New(rand.NewPCG(5, 6))
	v := vectors{X: normal(rng, 20, 3), W: normal(rng, 3, 0), Gamma: 0.1, Lambda: 0.01}
	const iterations = 60
	for range iterations {
		v.Rows, v.B = append(v.Rows, rng.IntN(20)), append(v.B, 2*math.Pi*rng.Float64())
		for c := range v.W {
			v.W[c] = append(v.W[c], rng.NormFloat64())
		}
	}
	for _, x := range v.X {
		v.Y = append(v.Y, math.Copysign(1, x[0]*x[1]))
	}
	for _, mode := range []Mode{Hardened, Paper} {
		for bits, tolerance := range map[int]float64{32: 1e-8, 16: 1e-3} {
			for _, loss := range []string{"square", "logistic", "smoothhinge"} {
				f, s := v.train(t, mode, bits, loss)
				compare(t, fmt.Sprint(mode, bits, loss), s.alpha, v.pooled(f, loss), tolerance)
			}
		}
	}
}

// pooled runs that learner on exact phases of whole rows.
func (v vectors) pooled(f *federation, loss string) []float64 {
	s := &stochastic{vectors: v, loss: loss, phases: make(map[int][]float64)}
	r := f.params.ring()
	added := make([]byte, len(v.Rows)*r.bytes())
	if f.params.Spec().Mode == Paper {
		f.addPhases(added, Span{0, len(v.Rows)})
	}
	for q, more := s.Next(); more; q, more = s.Next() {
		row := q.Rows[0].First
		for j := q.Directions.First; j < q.Directions.end(); j++ {
			o := v.B[j] + 2*math.Pi*math.Ldexp(float64(r.word(added, j)), -int(r))
			for c, x := range v.X[row] {
				o += x * v.W[c][j]
			}
			s.phases[row] = append(s.phases[row], o)
		}
	}
	return s.alpha
}

package fdskl

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
)

// someWords are random phases of rows in directions, in words of 16 bits.
type someWords [][]uint16

func newWords(rows, directions int) someWords {
	rng, w := rand.New(rand.NewPCG(7, 8)), make(someWords, rows)
	for i := range w {
		w[i] = make([]uint16, directions)
		for d := range w[i] {
			w[i][d] = uint16(rng.Uint32())
		}
	}
	return w
}

func (w someWords) Block(dst []byte, rows []int, first, count int) {
	for i, r := range rows {
		for d := range count {
			binary.LittleEndian.PutUint16(dst[2*(i*count+d):], w[r][first+d])
		}
	}
}

// features returns the cosine and the sine of each of a row's first phases.
func (w someWords) features(row, directions int) []float64 {
	var phi []float64
	for _, word := range w[row][:directions] {
		sin, cos := math.Sincos(2 * math.Pi * float64(word) / (1 << 16))
		phi = append(phi, cos, sin)
	}
	return phi
}

// halves gives every second row class "1".
func halves(rows int) (labels []string, y []float64) {
	for i := range rows {
		labels, y = append(labels, []string{"0", "1"}[i%2]), append(y, float64(2*(i%2)-1))
	}
	return labels, y
}

// Training cached ends in the minimum of objective (1) with the job's lambda and loss, the mean loss of
// the training rows and half of lambda times the squared norm: its gradient, computed from the words
// alone, is zero there.
func TestCachedTrainingMinimisesTheObjective(t *testing.T) {
	const rows, train, directions, lambda = 60, 45, 256, 0.05
	words := newWords(rows, directions)
	labels, signs := halves(rows)
	mean := 0.
	for _, y := range signs[:train] {
		mean += (y + 1) / 2 / train
	}
	for name, slope := range map[string]func(u, y float64) float64{
		"logistic":     func(u, y float64) float64 { return -y / (1 + math.Exp(y*u)) },
		"smooth-hinge": func(u, y float64) float64 { return -y * min(1, max(0, 1-y*u)) },
		"squared":      func(u, y float64) float64 { return 2 * (u - ((y+1)/2 - mean)) }, // of the numbers 0 and 1
	} {
		s, err := NewSolver(random(t, ", bits: 16", name+", lambda: 0.05"), labels, train, [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		if err := AnswerAll(t.Context(), s, words, 2); err != nil {
			t.Fatal(err)
		}
		l, err := s.Learn(nil)
		if err != nil {
			t.Fatal(err)
		}
		w, gradient := l.Coefficients.Row(0), make([]float64, 2*directions)
		linalg.Axpy(lambda, w, gradient)
		for i := range train {
			phi := words.features(i, directions)
			u := linalg.Dot(w, phi) / math.Sqrt(directions)
			linalg.Axpy(slope(u, signs[i])/math.Sqrt(directions)/train, phi, gradient)
		}
		if off, size := math.Sqrt(linalg.Dot(gradient, gradient)), lambda*math.Sqrt(linalg.Dot(w, w)); off > .01*size || size == 0 {
			t.Errorf("%s: the gradient is %v long at the solution, where lambda times the coefficients is %v long", name, off, size)
		}
	}
}

// Training cached fits the loss of the job's learner with the job's own lambda, however small, and each
// of several classes against the others: its coefficients are those of package linear on the training
// rows' words, and its decisions are those of the held-out rows' words.
func TestCachedTrainingIsTheFitOfItsRows(t *testing.T) {
	const rows, train, directions = 60, 45, 256
	words, labels := newWords(rows, directions), make([]string, rows)
	for i := range labels {
		labels[i] = fmt.Sprint(i % 3)
	}
	tableOf := func(rows []int) *linear.Phases[float32] {
		table, block := linear.NewPhases[float32](len(rows), directions, 16), make([]byte, 2*len(rows)*directions)
		words.Block(block, rows, 0, directions)
		table.Put(block, 0, len(rows), 0, directions)
		return table
	}
	table, held := tableOf(linalg.Range(0, train)), tableOf(linalg.Range(train, rows))
	for learner, loss := range map[string]linear.Loss{
		"logistic": linear.Logistic{}, "smooth-hinge": linear.SmoothHinge{}, "squared": linear.Square{}, "huber, delta: 0.3": linear.Huber{Delta: .3},
	} {
		targets := linalg.New[float64](3, train) // each class against the others, or the numbers 0, 1 and 2 without their mean
		for i := range train {
			for class := range 3 {
				targets.Row(class)[i] = map[bool]float64{true: 1, false: -1}[i%3 == class]
			}
		}
		if learner == "squared" || learner == "huber, delta: 0.3" {
			targets = targets.Panel(0, 1)
			for i := range train {
				targets.Data[i] = float64(i%3) - 1
			}
		}
		for _, lambda := range []float64{1e-7, 1e-5, 1e-3, .5} {
			s, err := NewSolver(random(t, ", bits: 16", fmt.Sprintf("%s, lambda: %v", learner, lambda)), labels, train, [32]byte{1})
			if err != nil {
				t.Fatal(err)
			}
			if err := AnswerAll(t.Context(), s, words, 2); err != nil {
				t.Fatal(err)
			}
			got, err := s.Learn(nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := linear.Fit(table, targets, linear.Params{Loss: loss, Lambda: lambda})
			if want == nil {
				t.Fatal(err)
			}
			sameNumbers(t, fmt.Sprintf("%s, lambda %v: coefficients", learner, lambda), got.Coefficients, want.Coefficients, 1e-5) // of float32
			sameNumbers(t, fmt.Sprintf("%s, lambda %v: decisions", learner, lambda), got.Decisions, linear.Decide(held, want.Coefficients), 1e-4)
		}
	}
}

// sameNumbers demands that two matrices have the same shape and nearly the same entries.
func sameNumbers(t *testing.T, what string, got, want linalg.Matrix[float64], tolerance float64) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s: %d x %d, want %d x %d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for k := range want.Rows {
		for i, v := range want.Row(k) {
			if a := got.Row(k)[i]; !(math.Abs(a-v) <= tolerance*(1+math.Abs(v))) {
				t.Fatalf("%s: number %d of output %d is %v, want %v", what, i, k, a, v)
			}
		}
	}
}

package linear

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// vectors holds test vectors of the reference implementation, computed with numpy.
type vectors struct {
	X, W       [][]float64
	Y, B       []float64
	Idx        []int
	Gamma, Lam float64
	Loss       map[string][][4]float64 // u, y, value, slope
	Runs       map[string][]struct {
		F     float64
		Alpha []float64
	}
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/dsg.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func named() map[string]Loss {
	return map[string]Loss{"square": Square{}, "logistic": Logistic{}, "smoothhinge": SmoothHinge{}, "huber": Huber{0.7}, "wide huber": Huber{30}}
}

func TestLossVectors(t *testing.T) {
	v := readVectors(t)
	if len(v.Loss) != 3 {
		t.Fatalf("%d losses", len(v.Loss))
	}
	for name, points := range v.Loss {
		loss := named()[name]
		for _, p := range points {
			if value, slope := loss.Value(p[0], p[1]), loss.Slope(p[0], p[1]); math.Abs(value-p[2]) > 1e-15 || math.Abs(slope-p[3]) > 1e-15 {
				t.Errorf("%s of %v, target %v: value %v, slope %v, want %v and %v", name, p[0], p[1], value, slope, p[2], p[3])
			}
		}
	}
}

// The slope is the derivative, rises, nowhere faster than the curvature, and somewhere as fast.
func TestSlopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Float64Range(-20, 20).Draw(t, "u")
		y := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "y")
		for name, loss := range named() {
			const h = 1e-5
			low, high := loss.Value(u-h, y), loss.Value(u+h, y)
			if d := (high - low) / (2 * h); math.Abs(d-loss.Slope(u, y)) > loss.Curvature()*h+1e-9*(1+low) {
				t.Errorf("%s at %v, target %v: slope %v, difference quotient %v", name, u, y, loss.Slope(u, y), d)
			}
			if rise := (loss.Slope(u+h, y) - loss.Slope(u, y)) / h; rise < -1e-9 || rise > loss.Curvature()+1e-9 {
				t.Errorf("%s at %v, target %v: the slope rises by %v, bound %v", name, u, y, rise, loss.Curvature())
			}
		}
	})
	for name, loss := range named() {
		const h, steps = 1e-2, 200
		steepest := 0.0
		for i := range 2 * steps {
			u := float64(i-steps) * h
			steepest = max(steepest, (loss.Slope(u+h, 1)-loss.Slope(u, 1))/h)
		}
		if math.Abs(steepest-loss.Curvature()) > 1e-4 {
			t.Errorf("%s: the slope rises by %v at most, and the curvature is %v", name, steepest, loss.Curvature())
		}
	}
}

// Large decisions overflow nothing.
func TestLossesFarOut(t *testing.T) {
	for name, loss := range named() {
		for _, u := range []float64{-1e9, 1e9} {
			for _, y := range []float64{-1, 1} {
				if v, s := loss.Value(u, y), loss.Slope(u, y); math.IsInf(v, 0) || math.IsNaN(v) || math.IsNaN(s) || math.IsInf(s, 0) || v < 0 {
					t.Errorf("%s at %v, target %v: %v, slope %v", name, u, y, v, s)
				}
			}
		}
	}
}

func TestReadings(t *testing.T) {
	if Sign(0) != 1 || Sign(-1e-300) != -1 || Sign(3) != 1 {
		t.Error("signs")
	}
	if Sigmoid(0) != 0.5 || math.Abs(Sigmoid(2)-0.8807970779778824) > 1e-15 || Sigmoid(-800) != 0 || Sigmoid(800) != 1 {
		t.Error("probabilities")
	}
}

func TestNewHuber(t *testing.T) {
	if got, err := NewHuber(2); err != nil || got != (Huber{2}) {
		t.Errorf("huber: %v, %v", got, err)
	}
	for _, delta := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := NewHuber(delta); err == nil {
			t.Errorf("huber with delta %v: no error", delta)
		}
	}
}

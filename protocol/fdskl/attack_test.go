package fdskl

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// The attack on shared directions: the active worker knows w and, for each row,
// w.x + b modulo a turn over the others' columns. Differences of two rows cancel
// b. Short directions do not wrap around, so that least squares on them gives a
// first guess of x - x_0; with it all others are unwrapped, and the fit repeated.
// Theorem 7 of the paper speaks of single partial sums only.

const (
	attackRows       = 400
	attackDirections = 2048
	ownColumns       = 34 // of the active worker
	attackGamma      = 1 / (2 * 0.856 * 0.856)
)

// oneHot is like the phishing data: 68 columns of zeros and 1/sqrt(30), groups of
// two or three of which one is set.
func oneHot() linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(3, 4))
	x := linalg.New[float64](attackRows, 68)
	for i := range x.Rows {
		for c := 0; c < x.Cols; {
			group := min(2+c%2, x.Cols-c)
			x.Row(i)[c+rng.IntN(group)] = 1 / math.Sqrt(30)
			c += group
		}
	}
	return x
}

// phishing reads rows of the real data, or skips the test.
func phishing(t *testing.T) linalg.Matrix[float64] {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "phishing", "phishing"))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real data (set MERCER_DATA): %v", err)
	}
	defer f.Close() //nolint:errcheck // read only
	set, err := dataset.ReadLIBSVM(f, dataset.LIBSVMOptions{Name: "phishing", Columns: 68})
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.New[float64](attackRows, 68)
	linalg.Gather(x, dataset.RowsOf(set.X), 0)
	return x
}

// directions returns the directions of columns first to first+count-1 from one seed.
func directions(seed byte, first, count int) feature.Directions {
	return feature.Directions{Spectrum: feature.RBF(attackGamma), Columns: count, Entries: func(block, column int) feature.Numbers {
		return prg.New([32]byte{seed}, "test/directions", binary.LittleEndian.AppendUint32(nil, uint32(block)), binary.LittleEndian.AppendUint32(nil, uint32(first+column)))
	}}
}

// attacked runs a session of four workers over x, the columns from ownColumns on
// being split among the passive ones. With one seed all directions are shared.
func attacked(t *testing.T, x linalg.Matrix[float64], mode Mode, seed func(worker int) byte) (*Table, Source) {
	t.Helper()
	bounds := []int{0, ownColumns, 46, 57, 68}
	var sources []Source
	for w := range 4 {
		lo, hi := bounds[w], bounds[w+1]
		part := linalg.New[float64](x.Rows, hi-lo)
		for i := range x.Rows {
			copy(part.Row(i), x.Row(i)[lo:hi])
		}
		sources = append(sources, feature.NewPhases(part, directions(seed(w), lo, hi-lo), 16))
	}
	f := joined(t, Spec{Mode: mode, Rows: attackRows, Directions: attackDirections}, sources)
	s, r := f.run(t, f.table, nil)
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return s.(*Table), sources[0]
}

// recoverRows is the attack with the directions that the active worker believes in.
// It returns estimates of x - x_0 over the others' columns.
func recoverRows(table *Table, own Source, w linalg.Matrix[float64]) linalg.Matrix[float64] {
	differences := phaseDifferences(table, own)
	short := numbers(0, attackDirections)
	slices.SortFunc(short, func(a, b int) int { return cmp.Compare(squaredNorm(w.Row(a)), squaredNorm(w.Row(b))) })
	estimate := leastSquares(w, differences, short[:6*w.Cols])
	for range 5 {
		unwrapped := linalg.New[float64](attackRows, attackDirections)
		linalg.MulTransB(unwrapped, estimate, w)
		for k, d := range differences.Data {
			turns := math.Round((unwrapped.Data[k] - d) / (2 * math.Pi))
			unwrapped.Data[k] = d + 2*math.Pi*turns
		}
		estimate = leastSquares(w, unwrapped, numbers(0, attackDirections))
	}
	return estimate
}

// phaseDifferences returns the others' phases of each row less those of the first row, from -pi to
// pi.
func phaseDifferences(table *Table, own Source) linalg.Matrix[float64] {
	differences := linalg.New[float64](attackRows, attackDirections)
	first := table.othersSum(own, 0)
	for i := range attackRows {
		words := table.othersSum(own, i)
		ring(16).sub(words, first)
		for j := range attackDirections {
			differences.Row(i)[j] = float64(int16(ring(16).word(words, j))) * math.Pi / (1 << 15)
		}
	}
	return differences
}

func squaredNorm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// leastSquares solves x w_j = b_j over the chosen directions j, for each row.
func leastSquares(w, b linalg.Matrix[float64], chosen []int) linalg.Matrix[float64] {
	some, right := linalg.New[float64](w.Cols, len(chosen)), linalg.New[float64](b.Rows, len(chosen))
	for k, j := range chosen {
		for p, v := range w.Row(j) {
			some.Row(p)[k] = v
		}
		for i := range b.Rows {
			right.Row(i)[k] = b.Row(i)[j]
		}
	}
	gram, x := linalg.New[float64](w.Cols, w.Cols), linalg.New[float64](b.Rows, w.Cols)
	linalg.MulTransB(gram, some, some)
	linalg.MulTransB(x, right, some)
	if err := linalg.Cholesky(gram); err != nil {
		panic(err)
	}
	linalg.SolveCholesky(gram, x)
	return x
}

// score compares estimates with the truth: the share of entries that are right
// to half a step, and the error relative to the size of the differences.
func score(estimate, x linalg.Matrix[float64]) (right, relative float64) {
	var wrong, size float64
	for i := range estimate.Rows {
		for c, v := range estimate.Row(i) {
			truth := x.Row(i)[ownColumns+c] - x.Row(0)[ownColumns+c]
			wrong += (v - truth) * (v - truth)
			size += truth * truth
			if math.Abs(v-truth) < .5/math.Sqrt(30) {
				right++
			}
		}
	}
	return right / float64(len(estimate.Data)), math.Sqrt(wrong / size)
}

func TestSharedDirectionsGiveTheRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	one := func(int) byte { return 1 }
	private := func(worker int) byte { return byte(10 + worker) }
	believed := linalg.New[float64](attackDirections, 68-ownColumns)
	directions(1, ownColumns, 68-ownColumns).Read(believed, 0)
	for name, data := range map[string]func(*testing.T) linalg.Matrix[float64]{
		"generated": func(*testing.T) linalg.Matrix[float64] { return oneHot() }, "phishing": phishing,
	} {
		t.Run(name, func(t *testing.T) {
			x := data(t)
			table, own := attacked(t, x, Paper, one)
			right, relative := score(recoverRows(table, own, believed), x)
			t.Logf("mode paper: %.4f of the entries, relative error %.1e", right, relative)
			if right < 1 || relative > 1e-3 {
				t.Errorf("with shared directions %.4f of the entries are read, relative error %.1e; want all", right, relative)
			}
			table, own = attacked(t, x, Hardened, private)
			right, relative = score(recoverRows(table, own, believed), x)
			t.Logf("mode hardened, private directions: %.4f of the entries, relative error %.2f", right, relative)
			if guess, _ := score(linalg.New[float64](attackRows, 68-ownColumns), x); right > guess+.02 || relative < .9 {
				t.Errorf("with private directions %.4f of the entries are read, relative error %.2f; guessing that rows are equal gives %.4f", right, relative, guess)
			}
			checkExposure(t, table, own, x)
		})
	}
}

// checkExposure finds what private directions do not hide: distances.
func checkExposure(t *testing.T, table *Table, own Source, x linalg.Matrix[float64]) {
	t.Helper()
	var pairs [][2]int
	for i := range 60 {
		for j := range i {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	e := table.Expose(own, pairs, func(i, j int) float64 {
		squared := 0.0
		for c := ownColumns; c < x.Cols; c++ {
			squared += (x.Row(i)[c] - x.Row(j)[c]) * (x.Row(i)[c] - x.Row(j)[c])
		}
		return math.Exp(-attackGamma * squared)
	})
	t.Logf("kernel of the others' columns: %+v", e)
	if limit := 1 / math.Sqrt(2*attackDirections); e.Correlation < .99 || e.Deviation > 1.1*limit || e.Pairs != len(pairs) {
		t.Errorf("the others' kernel shows with %+v, want a correlation above .99 and a deviation of at most %.4f", e, limit)
	}
}

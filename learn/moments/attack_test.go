package moments

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/linalg"
)

// digits is the bundled set, pixels from 0 to 1, and its codes.
func digits(t *testing.T) (linalg.Matrix[float64], []int) {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	_, codes := dataset.Classes(set.Labels)
	x := linalg.New[float64](set.X.Rows(), set.X.Cols())
	for i := range x.Rows {
		for j, v := range set.X.Row(i, nil) {
			x.Row(i)[j] = v / 16
		}
	}
	return x, codes
}

// A party that is told solutions looks for the sums: (A + alpha M/2 I) W = B for
// every alpha, so that A (W_1 - W_2) = M/2 (alpha_2 W_2 - alpha_1 W_1). The
// strongest party knows B as well, from any source, and solves A W = B - alpha M/2 W.
// Solutions for many alphas give A nearly to the last bit; the one that the protocol
// tells leaves it open.
func TestAttackSolutionsGiveTheSums(t *testing.T) {
	x, codes := digits(t)
	const features = 44
	m := featuresOf(1, features, x.Cols, 0.5)
	s := summarize(t, m, x, codes, 10)
	attack := func(alphas ...float64) (worst float64) {
		var known, equal []float64 // rows d and e with A d = e
		for _, alpha := range alphas {
			one, err := Solve(s, alpha)
			if err != nil {
				t.Fatal(err)
			}
			for c := range 10 {
				w := one.Weights.Row(c)
				norm := math.Sqrt(linalg.Dot(w, w))
				for j, v := range w {
					known = append(known, v/norm)
					equal = append(equal, (s.Cross.Row(c)[j]/(One*One)-alpha*features/2*v)/norm)
				}
			}
		}
		n := len(alphas) * 10
		var d mat.SVD
		if !d.Factorize(mat.NewDense(n, features, known), mat.SVDThin) {
			t.Fatal("no singular values")
		}
		var a mat.Dense
		d.SolveTo(&a, mat.NewDense(n, features, equal), d.Rank(1e-13))
		largest := 0.0
		for i := range features {
			for j, v := range s.Outer.Row(i) {
				worst = max(worst, math.Abs((a.At(i, j)+a.At(j, i))/2-v/(One*One)))
				largest = max(largest, math.Abs(v/(One*One)))
			}
		}
		return worst / largest
	}
	several := attack(0.001, 0.01, 0.1, 1, 10, 100, 1000, 10000)
	told := attack(0.1)
	t.Logf("eight solutions give products of features to %.1e of the largest, the one that is told to %.2f", several, told)
	if several > 1e-6 || told < 0.1 {
		t.Errorf("eight solutions: %v off, want the attack to work; one: %v off, want it to fail", several, told)
	}
}

// A server that breaks the rules tells a solution that is none, to ask about held-out
// rows. Outputs +2 phi_j and -2 phi_j differ in their squared errors by the sum of
// y phi_j, and so pairs of them read the row of a class that has one, with squared
// errors as they were. What parties return for the one solution that they take is
// a single share of decisions, which of a feature tells its sign at most.
func TestAttackToldSolutionReadsRows(t *testing.T) {
	x, codes := digits(t)
	const features, held = 256, 123
	m := featuresOf(1, features, x.Cols, 1e-3)
	row := x.Panel(held, held+1)
	pixels := func(feature func(j int) float64) (right int) {
		var angles []float64
		for j := features / 2; j < features; j++ { // sines
			angles = append(angles, math.Asin(min(1, max(-1, feature(j)))))
		}
		var back mat.VecDense
		if err := back.SolveVec(mat.NewDense(features/2, x.Cols, m.Directions.Data), mat.NewVecDense(features/2, angles)); err != nil {
			t.Fatal(err)
		}
		for j, v := range row.Row(0) {
			if math.Round(back.AtVec(j)*16) == math.Round(v*16) {
				right++
			}
		}
		return right
	}
	question := func(j int, sign float64) Solution {
		s := Solution{Weights: linalg.New[float64](10, features), Offset: make([]float64, 10)}
		s.Weights.Row(codes[held])[j] = sign
		return s
	}
	squares := func(s Solution) float64 { // as parties returned them once
		f, sum := s.Decisions(m, row).Row(0)[codes[held]], 0.0
		sum += float64(squaredError(f, 1)) / SquaredOne
		return sum
	}
	before := pixels(func(j int) float64 { return (squares(question(j, -2)) - squares(question(j, 2))) / 8 })
	now := pixels(func(j int) float64 {
		up, err := Correct(m, question(j, 2), row, codes[held:held+1])
		if err != nil {
			t.Fatal(err)
		}
		down, err := Correct(m, question(j, -2), row, codes[held:held+1])
		if err != nil {
			t.Fatal(err)
		}
		return float64(RoundShare(up, 1)-RoundShare(down, 1)) / Thousand
	})
	t.Logf("by squared errors of %d solutions %d of 64 pixels, by as many shares of decisions, each from a job of its own, %d", features, before, now)
	if before < 64 {
		t.Errorf("%d pixels by squared errors, want the attack to work", before)
	}
	if now > 48 { // half of an image is black
		t.Errorf("%d pixels by shares of decisions", now)
	}
}

// An attacker who holds the sums knows every tenth member's row, and the rows of as many
// others, and solves for all of them together: that tells members better than the
// leverage, which takes them one by one. With all members among the candidates it is
// certain.
func TestAttackJointMembership(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x, codes := digits(t)
	const features, n = 44, 900
	m := featuresOf(1, features, x.Cols, 0.5)
	s := summarize(t, m, x.Panel(0, n), codes[:n], 10)
	attack := func(every int) float64 {
		var rows, y []int
		for i := 0; i < n; i += every {
			rows = append(rows, i)
		}
		members := len(rows)
		for i := n; i < n+400; i++ {
			rows = append(rows, i)
		}
		for _, i := range rows {
			y = append(y, codes[i])
		}
		auc, err := JointMembership(s, m, linalg.Pick(x, rows), Classes{y, 10}, members)
		if err != nil {
			t.Fatal(err)
		}
		return auc
	}
	alone, err := Membership(s, m, x.Panel(0, n), x.Panel(n, n+400))
	if err != nil {
		t.Fatal(err)
	}
	tenth, all := attack(10), attack(1)
	t.Logf("leverage %.2f, jointly with a tenth of the members %.2f, with all of them %.2f", alone, tenth, all)
	if tenth < alone || all < 0.99 {
		t.Errorf("leverage %.2f, a tenth %.2f, all %.2f: want each to find more", alone, tenth, all)
	}
	if _, err := JointMembership(s, m, x.Panel(0, 10), Classes{codes[:10], 10}, 10); err == nil {
		t.Error("no outsider among the candidates")
	}
}

// A party that knows all training rows but one, with their labels, subtracts them from the solution's
// equations: (A + alpha M/2 I) w - b over the known rows is the remaining row's features times one
// number. Their angles over the public directions are linear in the row.
func TestAttackSolutionGivesTheLastRow(t *testing.T) {
	x, codes := digits(t)
	const features, alpha, last = 160, 0.1, 599
	m := featuresOf(1, features, x.Cols, 0.005)
	solution, err := Solve(summarize(t, m, x.Panel(0, last+1), codes[:last+1], 10), alpha)
	if err != nil {
		t.Fatal(err)
	}
	known, w := summarize(t, m, x.Panel(0, last), codes[:last], 10), solution.Weights.Row(0)
	rest := make([]float64, features)
	for i := range rest {
		rest[i] = alpha*features/2*w[i] - known.Cross.Row(0)[i]/(One*One)
		for j, v := range known.Outer.Row(i) {
			rest[i] += v / (One * One) * w[j]
		}
	}
	best := math.Inf(1)
	for _, sign := range []float64{1, -1} { // of the remaining row's error, which the party does not know
		angles := mat.NewVecDense(features/2, nil)
		for k := range features / 2 {
			angles.SetVec(k, math.Atan2(sign*rest[features/2+k], sign*rest[k]))
		}
		var row mat.VecDense
		if err := row.SolveVec(mat.NewDense(features/2, x.Cols, m.Directions.Data), angles); err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for j, v := range x.Row(last) {
			worst = max(worst, math.Abs(row.AtVec(j)-v))
		}
		best = min(best, worst)
	}
	if !(best <= 1./64) { // a quarter of a step
		t.Errorf("the remaining row is read to %.2g, want the attack to work", best)
	}
}

package fdskl

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/linalg"
)

// listener is an active worker that wants another one's labels. It notes which rows the other
// draws, and the other's part of the model's value at each row that it draws itself. It knows
// the kernel of any two rows. In truth it knows that to (2 M)^-1/2, and not exactly.
type listener struct {
	kernel func(a, b int) float64
	decay  float64
	drawn  []float64 // how often the other has drawn each row, decayed as its coefficients are
	heard  []float64
	pulls  [][]float64 // on the received parts, of each row
}

// watch follows the iterations.
func (l *listener) watch(own *partner) func(p *partner, rows []int, sum []float64) {
	return func(p *partner, rows []int, sum []float64) {
		if !p.learning {
			return
		}
		for i := range l.drawn {
			l.drawn[i] *= l.decay
		}
		if p != own {
			l.drawn[rows[0]]++
			return
		}
		pull := make([]float64, len(l.drawn))
		for i, n := range l.drawn {
			pull[i] = n * l.kernel(i, rows[0])
		}
		l.heard, l.pulls = append(l.heard, sum[0]), append(l.pulls, pull)
	}
}

// signs solves for the labels of rows by least squares.
func (l *listener) signs(t *testing.T, rows []int) []float64 {
	t.Helper()
	a, b := linalg.New[float64](len(rows), len(rows)), linalg.New[float64](1, len(rows))
	for k, pull := range l.pulls {
		own := linalg.At(pull, rows)
		linalg.Axpy(l.heard[k], own, b.Row(0))
		for i, v := range own {
			linalg.Axpy(v, own, a.Row(i))
		}
	}
	for i := range rows {
		a.Row(i)[i] += 1e-4 * float64(len(l.heard))
	}
	if err := linalg.Cholesky(a); err != nil {
		t.Fatal(err)
	}
	linalg.SolveCholesky(a, b)
	return b.Row(0)
}

// The parts of the model's value that one active worker sends another depend on its labels. The
// labels are random, so no data explain them and a guess is right for one in two. From 1,024 parts
// the receiver has more labels right than chance allows. This is the strongest adversary that
// follows the protocol; one that chooses the rows that it draws may do better.
func TestAttackPartsOfTheValueTellLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, set := spreadTables(t, columnstest.Numbered(t, "wdbc", 400), spreadSettings, third)
	for i := range f.Index(t, "protocol") {
		f.Step(t, i)
	}
	keysOf(f.Job).Directions = 2048
	labels, rng := inOrder(t, f, set), rand.New(rand.NewPCG(5, 6))
	for i := range labels {
		labels[i] = []string{"0", "1"}[rng.IntN(2)]
	}
	all := twins(t, f, labels)
	gamma, err := Gamma(f.Job, jointUnit(f.Parties["guest"].Declared))
	if err != nil {
		t.Fatal(err)
	}
	var parts []linalg.Rows
	for _, name := range f.Job.Parties() {
		parts = append(parts, f.Parties[name].Rows)
	}
	rows := columnstest.Beside(parts)
	params := all[1].optimizerParamsOf(1).DSGParams
	l := &listener{decay: 1 - params.Rate*params.Lambda, drawn: make([]float64, len(labels)), kernel: func(a, b int) float64 {
		x, z := rows.Row(a), rows.Row(b)
		return math.Exp(-gamma * (linalg.Dot(x, x) + linalg.Dot(z, z) - 2*linalg.Dot(x, z)))
	}}
	takeTurnsWatched(all, pooledPhases(t, f, set.X.Cols()), l.watch(all[1]))
	right, victims := 0, all[0].own.Training
	for i, v := range l.signs(t, victims) {
		if (v > 0) == (labels[victims[i]] == "1") {
			right++
		}
	}
	t.Logf("%d of %d labels that were drawn by lot are right", right, len(victims))
	if chance := float64(len(victims))/2 + 3*math.Sqrt(float64(len(victims)))/2; float64(right) < chance {
		t.Errorf("%d of %d labels are right, not more than %.0f, which chance allows", right, len(victims), chance)
	}
}

// Requests name rows of which the worker who asks has labels: every worker learns so of nearly all
// rows, whose labels are where.
func TestAttackRequestsTellWhoHasLabels(t *testing.T) {
	f, _ := spreadTables(t, columnstest.Numbered(t, "wdbc", 120), spreadSettings, third)
	for i := range f.Index(t, "protocol") {
		f.Step(t, i)
	}
	p := f.Parties["guest"]
	train, _, err := f.Server.sizes()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newOwner(f.Job, p.Set.Labels, p.Spread(), p.labelBroadcast, train, 0, [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[int]bool)
	for q, more := s.Next(); more; q, more = s.Next() {
		for _, span := range q.Rows {
			for _, row := range linalg.Range(span.First, span.First+span.Count) {
				named[row] = true
				s.Answer([]int{row}, make([]byte, 4*q.Directions.Count))
			}
		}
		s.Shares(make([]float64, len(s.asked)))
	}
	labelled := p.Set.Labelled()
	for row := range named {
		if p.Set.Labels[row] == "" {
			t.Errorf("row %d is asked about, and guest does not have its label", row)
		}
	}
	t.Logf("%d of %d labelled rows are named", len(named), len(labelled))
	if 10*len(named) < 8*len(labelled) {
		t.Errorf("%d of %d labelled rows are named", len(named), len(labelled))
	}
}

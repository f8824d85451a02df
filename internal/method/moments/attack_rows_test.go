package moments

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/escaped"
	"github.com/mercer-fl/mercer/internal/method/flake"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/kernel/feature"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// The strongest adversary of these tests is the coordinator alone, which writes the jobs, runs every
// session honestly, and keeps what it is sent.

const hospitalFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: hospitals}
spec:
  data:
    source: patients
    label: label
    partition: {parties: [north, south, east]}
    schema: {age: {range: [0, 120]}, krea: {range: [1, 400]}, postcode: {range: [10000, 99999]}, bmi: {range: [10, 60]}, hiv: {type: boolean}}
    scale: range
    test: {fraction: 0.25}
  protocol: %s
  kernel: {name: rbf, gamma: 0.001}
  learner: %s
`

// The columns of the schema, with what a two-hundredth of each range is.
var hospitalColumns = []struct{ low, high, close float64 }{{0, 120, 0.6}, {1, 400, 2}, {10000, 99999, 450}, {10, 60, 0.25}, {0, 1, 0.5}}

// ways are methods with which a hospital takes part in a job.
var ways = map[string]struct {
	method  *method.Protocol
	text    string
	step    string // that lets the rows out
	encodes bool
}{
	"moments": {Protocol(), fmt.Sprintf(hospitalFile, "{name: moments, directions: 1024, classes: [a, b]}", "{name: ridge-classifier, alpha: [0.01]}"), "sums", false},
	"okra":    {okra.Protocol(), fmt.Sprintf(hospitalFile, "{name: okra, wire: float64}", "{name: svc}"), "protocol", true},
	"flake":   {flake.Protocol(), fmt.Sprintf(hospitalFile, "{name: flake}", "{name: svc}"), "protocol", true},
	"escaped": {escaped.Protocol(), fmt.Sprintf(hospitalFile, "{name: escaped, mode: paper}", "{name: svc}"), "protocol", true},
}

// by makes every member of a job ready, with other settings: pairs of old and new text.
func by(t testing.TB, way string, number byte, tables map[string]string, settings ...string) *methodtest.Federation {
	t.Helper()
	w := ways[way]
	return methodtest.Hospitals(t, w.method, strings.NewReplacer(settings...).Replace(w.text), number, tables)
}

// cellsOf reads the columns of the schema out of all tables.
func cellsOf(t testing.TB, tables map[string]string) (rows [][]float64) {
	t.Helper()
	for _, name := range []string{"north", "south", "east"} {
		for _, line := range strings.Split(strings.TrimSpace(tables[name]), "\n")[1:] {
			row := make([]float64, len(hospitalColumns))
			for c, cell := range strings.Split(line, ",")[1:6] {
				switch v, err := strconv.ParseFloat(cell, 64); {
				case err == nil:
					row[c] = v
				case cell == "yes":
					row[c] = 1
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// symmetric makes a symmetric matrix of one that is nearly so.
func symmetric(m mat.Matrix) *mat.SymDense {
	n, _ := m.Dims()
	s := mat.NewSymDense(n, nil)
	for a := range n {
		for b := range a + 1 {
			s.SetSym(a, b, (m.At(a, b)+m.At(b, a))/2)
		}
	}
	return s
}

// largest returns the d largest eigenvalues and their vectors, ascending.
func largest(t testing.TB, s *mat.SymDense, d int) (values []float64, vectors *mat.Dense) {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		t.Fatal("no eigenvectors")
	}
	n, _ := s.Dims()
	all := new(mat.Dense)
	e.VectorsTo(all)
	return e.Values(nil)[n-d:], mat.DenseCopyOf(all.Slice(0, n, n-d, n))
}

// second reads out of the sums of a job the sum of the training rows' outer products, and the sum
// over class a less that over class b: sines of small angles are the angles.
func second(t testing.TB, f *methodtest.Federation, d int) (products *mat.Dense, classes *mat.VecDense) {
	t.Helper()
	s := f.Server.State.(*server)
	half := s.sums.Outer.Rows / 2
	features, err := directions(f.Job, s.session, 2*half, d)
	if err != nil {
		t.Fatal(err)
	}
	w := mat.NewDense(half, d, features.(feature.Map).Directions.Data)
	sines, angles := mat.NewDense(half, half, nil), mat.NewVecDense(half, nil)
	for i := range half {
		angles.SetVec(i, s.sums.Cross.Row(0)[half+i]/(1<<32))
		for k := range half {
			sines.Set(i, k, s.sums.Outer.Row(half + i)[half+k]/(1<<32))
		}
	}
	var gram, back, left mat.Dense
	gram.Mul(w.T(), w)
	if err := gram.Inverse(&gram); err != nil {
		t.Fatal(err)
	}
	back.Mul(&gram, w.T())
	left.Mul(&back, sines)
	products, classes = new(mat.Dense), new(mat.VecDense)
	products.Mul(&left, back.T())
	classes.MulVec(&back, angles)
	return products, classes
}

// problemOf returns the input of a coordinator's learner: the Gram matrix, labels and held-out
// rows.
func problemOf(f *methodtest.Federation) learner.Problem {
	return reflect.ValueOf(f.Server.State).Elem().FieldByName("Problem").Interface().(learner.Problem)
}

// turned computes the training rows of a job with encoded rows. The Gram matrix gives everything
// but a rotation, and the sums of another job give the rotation. Both reveal the classes' sums, and
// so the signs.
func turned(t testing.TB, p learner.Problem, products *mat.Dense, classes *mat.VecDense) (rows *mat.Dense, train []int) {
	t.Helper()
	for i, held := range p.Test {
		if !held {
			train = append(train, i)
		}
	}
	d, n := classes.Len(), len(train)
	gram, class := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for a, i := range train {
		class.SetVec(a, map[string]float64{"a": 1, "b": -1}[p.Labels[i]])
		for b, k := range train[:a+1] {
			gram.SetSym(a, b, p.Gram.Row(i)[k])
		}
	}
	lengths, ours := largest(t, gram, d)
	_, theirs := largest(t, symmetric(products), d)
	for c := range d {
		scale := math.Sqrt(lengths[c])
		if mat.Dot(ours.ColView(c), class)*mat.Dot(theirs.ColView(c), classes) < 0 {
			scale = -scale
		}
		for a := range n {
			ours.Set(a, c, scale*ours.At(a, c))
		}
	}
	rows = new(mat.Dense)
	rows.Mul(ours, theirs.T())
	return rows, train
}

// One honest okra job and one moments job over the same rows, whose files differ in the protocol
// only, reveal every cell of every party's training rows to the coordinator. A party's ledger
// blocks whichever job comes second.
func TestAttackEncodedRowsBesideSumsReadEverybody(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tables := methodtest.Three(300)
	products, classes := second(t, by(t, "moments", 1, tables).Until(t, "sums"), len(hospitalColumns))
	rows, train := turned(t, problemOf(by(t, "okra", 2, tables).Until(t, "protocol")), products, classes)
	truth := cellsOf(t, tables)
	for c, column := range hospitalColumns {
		right := 0
		for a, i := range train {
			if math.Abs(column.low+(column.high-column.low)*rows.At(a, c)-truth[i][c]) <= column.close {
				right++
			}
		}
		if right < len(train)*95/100 {
			t.Errorf("column %d: the coordinator reads %d of %d cells", c, right, len(train))
		}
	}
	if len(train) < 600 {
		t.Errorf("%d training rows", len(train))
	}
	const both = "people would be both in sums and among encoded rows: the sums reveal the rotation of the encoded rows"
	for name, way := range ways {
		if !way.encodes {
			continue
		}
		for _, order := range [][]string{{name, "moments"}, {"moments", name}} {
			ledgers := disclosuretest.NewLedgers(t, "east")
			ledgers.MustPlay(t, by(t, order[0], 1, methodtest.Three(240)), ways[order[0]].step)
			ledgers.Holds(t, "east", by(t, order[1], 2, methodtest.Three(240)), both)
		}
	}
}

// Omissions from the second job make no difference, nor does another name of the label: one person
// in both jobs is enough. The number of training rows, which a job by sums declares first, counts
// like the sums.
func TestAttackFewerEncodedRowsBesideSums(t *testing.T) {
	ledgers := disclosuretest.NewLedgers(t, "east")
	ledgers.MustPlay(t, by(t, "okra", 1, methodtest.Three(240)), "protocol")
	ledgers.Holds(t, "east", by(t, "moments", 2, methodtest.Three(240), "label: label", "label: smoker", "[a, b]", "[never, often]"), "both in sums and among encoded rows")
	ledgers.Holds(t, "east", by(t, "moments", 3, methodtest.Three(240), "krea: {range: [1, 400]}, ", ""), "both in sums and among encoded rows")
	ledgers.Holds(t, "east", by(t, "moments", 4, methodtest.Three(240), "source: patients", "source: renamed", "scale: range", "scale: none"), "both in sums and among encoded rows")
	one, none := methodtest.Three(240), methodtest.Three(220)
	none["east"] = strings.ReplaceAll(none["east"], "east-", "newcomer-")
	one["east"] = strings.Replace(none["east"], "newcomer-77,", "east-77,", 1)
	if n := trainedOf(t, by(t, "moments", 5, one), "east", "east-77"); n != 1 {
		t.Fatalf("the common person is %d times among the training rows", n)
	}
	ledgers.Holds(t, "east", by(t, "moments", 6, one), "1 person would be both in sums and among encoded rows")
	ledgers.MustPlay(t, by(t, "moments", 7, none), "count")
	ledgers.Abort(t, "east")
	ledgers.Holds(t, "east", by(t, "flake", 8, none), "both in sums and among encoded rows") // after the numbers alone
}

// A job that was aborted after its fit and before its rows counts as a job with that fit, for every
// method and scaling: south, which receives both fits, would read the patient between them.
func TestAttackAFitOfAnAbortedJob(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const patient = "person-1,97.0,233.7,48149,31.25,yes,often,a"
	for _, c := range []struct{ way, scale, last, want string }{
		{"okra", "standard", "preparation", "prepared or scaled by another fit"}, {"okra", "minmax", "scale", "prepared or scaled by another fit"},
		{"flake", "standard", "preparation", "prepared or scaled by another fit"}, {"flake", "minmax", "scale", "prepared or scaled by another fit"},
		{"escaped", "standard", "preparation", "prepared or scaled by another fit"}, {"escaped", "minmax", "scale", "prepared or scaled by another fit"},
		{"moments", "standard", "preparation", "1 person is in this job"}, {"moments", "minmax", "scale", "1 person is in this job"},
	} {
		job := func(number byte, east ...string) *methodtest.Federation {
			return by(t, c.way, number, methodtest.Three(240, east...), "scale: range", "scale: "+c.scale)
		}
		ledgers := disclosuretest.NewLedgers(t, "east")
		ledgers.MustPlay(t, job(1), c.last)
		ledgers.Abort(t, "east")
		ledgers.Holds(t, "east", job(2, patient), c.want)
	}
}

// trainedOf counts a person among a party's training rows.
func trainedOf(t testing.TB, f *methodtest.Federation, party, id string) (n int) {
	t.Helper()
	r := f.Releases(t, party, "sums")[0]
	for _, i := range r.Among {
		if r.Set.IDs[i] == id {
			n++
		}
	}
	return n
}

// Two okra jobs with one file, between which each hospital added 15 people, scale with two fits.
// The rows in both jobs differ in the columns' factors, which the products of both reveal, and so
// the columns themselves. It does not help that ten people or more were added everywhere.
func TestAttackTwoFitsReadTheColumns(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const few, more = 150, 165
	by := func(scale string, number byte, n int) *methodtest.Federation {
		return by(t, "okra", number, methodtest.Three(n), "scale: range", "scale: "+scale)
	}
	first := centred(problemOf(by("standard", 1, few).Until(t, "protocol")), few, few)
	then := centred(problemOf(by("standard", 2, more).Until(t, "protocol")), few, more)
	columns, truth := unscaled(t, first, then), cellsOf(t, methodtest.Three(few))
	for c := range hospitalColumns {
		best := 0.0
		for k := range hospitalColumns {
			best = max(best, correlation(truth, c, columns, k))
		}
		if best < 0.999 {
			t.Errorf("the coordinator has column %d with a correlation of %.6f", c, best)
		}
	}
	for _, scale := range []string{"standard", "minmax"} {
		ledgers := disclosuretest.NewLedgers(t, "east")
		ledgers.MustPlay(t, by(scale, 1, few), "protocol")
		ledgers.Holds(t, "east", by(scale, 2, more), "products of rows under two fits reveal their columns")
	}
}

// unscaled computes columns from products of the same rows under two scalings: in the first one's own
// directions the second one's products have the columns as eigenvectors, each with its factor.
func unscaled(t testing.TB, first, then *mat.SymDense) *mat.Dense {
	t.Helper()
	n, d := first.SymmetricDim(), len(hospitalColumns)
	lengths, rows := largest(t, first, d)
	whitened := mat.NewDense(n, d, nil)
	for c, l := range lengths {
		for i := range n {
			whitened.Set(i, c, rows.At(i, c)/math.Sqrt(l))
			rows.Set(i, c, rows.At(i, c)*math.Sqrt(l))
		}
	}
	var left, factors, columns mat.Dense
	left.Mul(whitened.T(), then)
	factors.Mul(&left, whitened)
	_, turn := largest(t, symmetric(&factors), d)
	columns.Mul(rows, turn)
	return &columns
}

// centred returns the products of the rows that each of three parties had first, without their mean.
func centred(p learner.Problem, first, rows int) *mat.SymDense {
	n := 3 * first
	k, mean, all := mat.NewSymDense(n, nil), make([]float64, n), 0.0
	for a := range n {
		for b := range n {
			v := p.Gram.Row(a/first*rows + a%first)[b/first*rows+b%first]
			k.SetSym(a, b, v)
			mean[a] += v / float64(n)
		}
		all += mean[a] / float64(n)
	}
	for a := range n {
		for b := range a + 1 {
			k.SetSym(a, b, k.At(a, b)-mean[a]-mean[b]+all)
		}
	}
	return k
}

// correlation compares a column of the tables with one that was read, up to its sign.
func correlation(rows [][]float64, c int, read *mat.Dense, k int) float64 {
	own := make([]float64, len(rows))
	for i := range rows {
		own[i] = rows[i][c]
	}
	return math.Abs(stat.Correlation(own, mat.Col(nil, k, read), nil))
}

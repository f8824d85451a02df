package moments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"gonum.org/v1/gonum/mat"
)

const rareFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: rare}
spec:
  data:
    source: small
    label: label
    partition: {parties: [north, south, east]}
    test: {fraction: 0.25}
%s
  protocol: {name: moments, directions: %d, classes: [a, b]}
  kernel: {name: rbf, gamma: %v}
  learner: {name: ridge-classifier, alpha: [0.01]}
`

// Two ways to bring the same five columns: by a schema, and as numbers.
const (
	rareSchema  = "    schema: {age: {range: [0, 120]}, krea: {range: [1, 400]}, postcode: {range: [10000, 99999]}, bmi: {range: [10, 60]}, hiv: {type: boolean}}\n    scale: range"
	rareNumbers = "    scale: none"
)

// rareRanges are the ends of the columns of numbers.
var rareRanges = [][2]float64{{0, 120}, {1, 400}, {10000, 99999}, {10, 60}}

// patient has a row of rareFile: four numbers, and whether hiv is yes.
type patient struct {
	cells [4]float64
	hiv   bool
}

// the is the only patient with hiv among more than a thousand, whose numbers an attacker wants.
var the = patient{[4]float64{97, 233.7, 48149, 31.25}, true}

// patients are 400 of one party, and more of them.
func patients(party uint64, more ...patient) []patient {
	r := rand.New(rand.NewPCG(party, 9))
	list := make([]patient, 0, 400+len(more))
	for range 400 {
		list = append(list, patient{cells: [4]float64{20 + float64(r.IntN(60)), 40 + 200*r.Float64(), 10000 + float64(r.IntN(89999)), 18 + 20*r.Float64()}})
	}
	return append(list, more...)
}

// numbers are the patients' rows as ranges scale them.
func numbers(list []patient) linalg.Matrix[float64] {
	m := linalg.New[float64](len(list), 5)
	for i, p := range list {
		for k, v := range p.cells {
			m.Row(i)[k] = (v - rareRanges[k][0]) / (rareRanges[k][1] - rareRanges[k][0])
		}
		if p.hiv {
			m.Row(i)[4] = 1
		}
	}
	return m
}

// set is a party's table, by the job's schema or of numbers.
func set(t *testing.T, j *job.Job, name string, list []patient) *dataset.Set {
	t.Helper()
	labels, ids := make([]string, len(list)), make([]string, len(list))
	for i := range list {
		labels[i], ids[i] = []string{"a", "b"}[i%2], fmt.Sprint(name, i)
	}
	if j.Data.Schema == nil {
		return &dataset.Set{Name: name, X: dataset.NewDense(numbers(list)), Labels: labels, IDs: ids, Columns: []string{"age", "krea", "postcode", "bmi", "hiv"}}
	}
	lines := []string{"patient,age,krea,postcode,bmi,hiv,label"}
	for i, p := range list {
		hiv := map[bool]string{true: "yes", false: "no"}[p.hiv]
		lines = append(lines, fmt.Sprintf("%s,%v,%v,%v,%v,%s,%s", ids[i], p.cells[0], p.cells[1], p.cells[2], p.cells[3], hiv, labels[i]))
	}
	records, err := dataset.OpenCSV(name, strings.NewReader(strings.Join(lines, "\n")+"\n"), dataset.CSVForm{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := prepare.Read(records, prepare.Table{Name: name, Schema: j.Data.Schema, Label: "label", ID: prepare.IDRule{Columns: []string{"patient"}}})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// sumOf plays a job until its sums are open; all have the usual limits. east has more patients than
// the other two, who train.
func sumOf(t *testing.T, data string, gamma float64, more ...patient) *federated {
	t.Helper()
	j := read(t, fmt.Sprintf(rareFile, data, 1024, gamma))
	c := methodtest.Instance(j)
	c.Limits = method.DefaultLimits()
	tables := make(map[string]method.Table)
	for i, name := range j.Parties() {
		list := patients(uint64(i))
		if name == "east" {
			list = patients(uint64(i), more...)
		}
		tables[name] = method.Table{Set: set(t, j, name, list), Key: keyThatTrains(t, set(t, j, name, list), 400)}
	}
	f := methodtest.New(t, Protocol(), c, tables)
	public := methodtest.StatesOf[*server, *party](f)
	for i := range f.Index(t, "sums") + 1 {
		f.Step(t, i)
	}
	return &federated{public}
}

// keyThatTrains finds a key that holds out no row from the given one on.
func keyThatTrains(t *testing.T, s *dataset.Set, from int) dataset.SplitKey {
	t.Helper()
	for k := range byte(255) {
		key := dataset.SplitKey{k, 3}
		_, held, err := key.Split(s, 0.25)
		if err != nil {
			t.Fatal(err)
		}
		if len(held) > 0 && held[len(held)-1] < from {
			return key
		}
	}
	t.Fatalf("no key trains with the last %d rows", s.X.Rows()-from)
	return dataset.SplitKey{}
}

// outer reads the sum of the rows' products from the sums of sines, which are nearly linear where
// gamma is small: by least squares over the public directions.
func outer(t *testing.T, sums *moments.Sums, m feature.Map) *mat.Dense {
	t.Helper()
	half := sums.Outer.Rows / 2
	w, sines := mat.NewDense(half, m.Width(), m.Directions.Data), mat.NewDense(half, half, nil)
	for i := range half {
		for k := range half {
			sines.Set(i, k, sums.Outer.Row(half + i)[half+k]/(moments.One*moments.One))
		}
	}
	var gram, inverse, least, left, products mat.Dense
	gram.Mul(w.T(), w)
	if err := inverse.Inverse(&gram); err != nil {
		t.Fatal(err)
	}
	least.Mul(&inverse, w.T())
	left.Mul(&least, sines)
	products.Mul(&left, least.T())
	return &products
}

// farFromThe returns the distance of the numbers beside hiv in the products from a patient's, as
// the largest share of a range.
func farFromThe(products *mat.Dense, p [4]float64) float64 {
	worst := 0.0
	for k, v := range p {
		share := (v - rareRanges[k][0]) / (rareRanges[k][1] - rareRanges[k][0])
		if d := math.Abs(products.At(4, k)/products.At(4, 4) - share); !(d <= worst) {
			worst = d
		}
	}
	return worst
}

// unmasked are the sums over all training rows as their owners have them.
func unmasked(t *testing.T, f *federated) *moments.Sums {
	t.Helper()
	all := moments.NewSums(f.Server.sums.Outer.Rows, 2)
	for _, p := range f.Parties {
		index := p.Split.Rows(false)
		targets, err := objectiveOf(f.Job).targets(linalg.At(p.Split.Set.Labels, index), len(index))
		if err != nil {
			t.Fatal(err)
		}
		own, err := moments.Summarize(p.features, linalg.Pick(p.Rows, index), targets)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range own.Outer.Data {
			all.Outer.Data[i] += v
		}
	}
	return all
}

// A coordinator that follows the protocol reads, from one job over an unchanged table, the row of
// the only person with a rare value: sums of this value's products with other columns are that
// person's. The attack works on unprotected rows, with a schema and with a numeric table; it fails
// on the actual sums, in which the value counts as the commonest.
func TestAttackOnlyOneWithARareValue(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for name, data := range map[string]string{"schema": rareSchema, "numbers": rareNumbers} {
		t.Run(name, func(t *testing.T) {
			for _, gamma := range []float64{1e-4, 1e-3} {
				f := sumOf(t, data, gamma, the)
				m := f.Parties["east"].features.(feature.Map)
				if d := farFromThe(outer(t, unmasked(t, f), m), the.cells); d > 0.02 {
					t.Fatalf("gamma %v: the row is read to %.3f of the ranges, want the attack to work on rows as they are", gamma, d)
				}
				products := outer(t, f.Server.sums, m)
				if d := farFromThe(products, the.cells); d < 0.2 {
					t.Errorf("gamma %v: the coordinator reads the row to %.3f of the ranges", gamma, d)
				}
				if n := products.At(4, 4); math.Abs(n) > 0.1 {
					t.Errorf("gamma %v: the sums count %.2f people with hiv", gamma, n)
				}
				told := f.Parties["east"].Notices()
				want := fmt.Sprintf(`fewer than 10 of %d rows have a value, by column: "hiv" (1); sums count it as the commonest, or as other`, len(f.Parties["east"].Split.Rows(false)))
				if !slices.Equal(told, []string{want}) {
					t.Errorf("east's operator is told %q, want %q", told, want)
				}
				if f.Parties["north"].Notices() != nil {
					t.Errorf("north, whose rows all have one value, has the notices %q", f.Parties["north"].Notices())
				}
			}
		})
	}
}

// If nine people have a rare value, none is counted. If ten have it, all are, and the sums reveal
// their mean.
func TestRareIsFewerThanTen(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for n, want := range map[int]float64{9: 0, 10: 10} {
		f := sumOf(t, rareSchema, 1e-4, slices.Repeat([]patient{the}, n)...)
		if got := outer(t, f.Server.sums, f.Parties["east"].features.(feature.Map)).At(4, 4); math.Abs(got-want) > 0.1 {
			t.Errorf("of %d people with hiv the sums count %.2f, want %v", n, got, want)
		}
	}
}

// The two numbers of a column that each party sends the leader for a scaling do not reveal few
// people either: a column in which fewer than ten differ counts as constant.
func TestScalingHasNoRareValue(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, scale := range []string{"minmax", "standard"} {
		for n, varies := range map[int]bool{9: false, 10: true} {
			f := sumOf(t, "    scale: "+scale, 1e-3, slices.Repeat([]patient{the}, n)...)
			for name, p := range f.Parties {
				if got := p.Scaling.Factor[4] != 0; got != varies || p.Scaling.Factor[0] == 0 {
					t.Errorf("%s, %d people with hiv: %s scales by %v", scale, n, name, p.Scaling.Factor)
				}
			}
		}
	}
}

// In held-out rows only values count that enough training rows have, because errors over them are
// sums too.
func TestHeldOutRowsHaveNoRareValue(t *testing.T) {
	for name, data := range map[string]string{"schema": rareSchema, "numbers": rareNumbers} {
		j := read(t, fmt.Sprintf(rareFile, data, 16, 0.1))
		list := patients(1)
		table := method.Table{Set: set(t, j, "east", list), Key: dataset.SplitKey{1}}
		split := partyOf(t, j, "east", table).Split
		held := split.Rows(true)
		for _, i := range held[:20] {
			list[i].hiv = true // no training row has it
		}
		table.Set = set(t, j, "east", list)
		for i, id := range table.Set.IDs { // by which the same rows are held out
			if id != fmt.Sprint("east", i) {
				t.Fatal(id)
			}
		}
		p := partyOf(t, j, "east", table)
		if !slices.Equal(p.Split.Rows(true), held) {
			t.Fatal("other rows are held out")
		}
		x, err := p.Sample(true, len(held))
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float64, 5)
		for i := range held {
			if x.ReadRow(i, row); row[4] != 0 {
				t.Fatalf("%s: held-out row %d has a value that no training row has", name, i)
			}
		}
		p.Rows.ReadRow(held[0], row)
		if row[4] != 1 {
			t.Errorf("%s: the table itself is changed", name)
		}
	}
}

package moments

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"gonum.org/v1/gonum/mat"
)

const attackFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: attack}
spec:
  data: {source: digits, label: label, partition: {parties: [north, south, east]}, test: %s, scale: none}
  protocol: {name: moments, directions: 256, classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "rare"]}
  kernel: {name: rbf, gamma: 0.00002}
  learner: {name: ridge-classifier, alpha: [0.01, 1]}
`

func attackJob(t *testing.T, test string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(attackFile, test))
}

// dealAll gives each party an equal part of a bundled set and a key of its own.
func dealAll(t *testing.T, j *job.Job, name string) map[string]method.Table {
	t.Helper()
	set, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	n := set.X.Rows() / len(j.Parties())
	tables := make(map[string]method.Table)
	for i, party := range j.Parties() {
		tables[party] = method.Table{Set: set.Subset(every(i*n, (i+1)*n)), Key: dataset.SplitKey{byte(i + 1)}}
	}
	return tables
}

// soleRow reads from the sums of a job what they reveal about a class: the sum of its rows'
// features and, if it has one row, that row. The sum over all classes cancels in each class's own.
// A cosine and a sine give an angle, and as many angles as columns give the row, by least squares.
func soleRow(t *testing.T, f *federated, class int) []float64 {
	t.Helper()
	s := f.Server.sums
	features, err := directions(f.Server.Job, f.Server.session, s.Outer.Rows, 64)
	if err != nil {
		t.Fatal(err)
	}
	half, classes := s.Outer.Rows/2, s.Cross.Rows
	z := make([]float64, 2*half)
	for k := range z {
		for c := range classes {
			z[k] += s.Cross.Row(c)[k] / float64(2-classes)
		}
		z[k] += s.Cross.Row(class)[k]
	}
	angles := mat.NewVecDense(half, nil)
	for k := range half {
		angles.SetVec(k, math.Atan2(z[half+k], z[k]))
	}
	var x mat.VecDense
	if err := x.SolveVec(mat.NewDense(half, 64, features.(feature.Map).Directions.Data), angles); err != nil {
		t.Fatal(err)
	}
	return x.RawVector().Data
}

// farFrom returns the largest difference of a row from what was read, of columns from 0 to 16.
func farFrom(row, read []float64) float64 {
	worst := 0.0
	for c, v := range row {
		worst = max(worst, math.Abs(v-read[c]))
	}
	return worst
}

// The server alone, which follows the protocol to the letter, reads the only patient of a
// diagnosis. A party with the usual limits takes no part, and reveals to nobody which class is too
// small, or how small.
func TestAttackSoleRowOfAClass(t *testing.T) {
	j := attackJob(t, "{fraction: 0.25}")
	tables := dealAll(t, j, "digits")
	north := tables["north"]
	split, err := rows.Split(j, "north", north)
	if err != nil {
		t.Fatal(err)
	}
	patient := 0
	for split.Test[patient] {
		patient++
	}
	north.Set.Labels[patient] = "rare" // which may hold the row out now
	if split, err = rows.Split(j, "north", north); err != nil || split.Test[patient] {
		t.Fatalf("the patient is held out: choose another (%v)", err)
	}

	read := soleRow(t, runSteps(t, j, tables), 10) // parties without limits
	if worst := farFrom(north.Set.X.Row(patient, nil), read); worst > 0.01 {
		t.Errorf("the row is read to %v, want the attack to work without limits", worst)
	}

	err = withLimits(j, "north", north)
	if fault.CodeOf(err) != fault.CodePolicy || !strings.Contains(err.Error(), `1 of class "rare"`) {
		t.Errorf("a party with the usual limits: %v", err)
	}
	if public := fault.NoticeOf(err).Sentence(); strings.Contains(public, "rare") || strings.ContainsAny(public, "0123456789") {
		t.Errorf("the others are told %q", public)
	}
}

// A server that wants nearly all rows held out gets sums over almost nobody. Jobs can no longer
// request this. A party whose operator lowers its limits, and that is nevertheless forced to,
// reveals single rows; one with the usual limits does not.
func TestAttackHoldingOutAlmostAll(t *testing.T) {
	if _, err := (&job.Reader{Protocols: []job.Protocol{Protocol()}, Learners: learner.Table()}).Parse("job.yaml", fmt.Appendf(nil, attackFile, "{fraction: 0.999}")); err == nil {
		t.Error("a job holds out nearly all rows")
	}
	j := attackJob(t, "{fraction: 0.5}")
	j.Data.Test.Fraction = 0.99 // what no file says
	tables := dealAll(t, j, "digits")
	f := runSteps(t, j, tables)
	classes := make(map[string][]int) // training rows of north, by class
	alone := map[string]int{}
	for name, p := range f.Parties {
		for i, held := range p.Split.Test {
			if !held {
				alone[p.Split.Set.Labels[i]]++
				if name == "north" {
					classes[p.Split.Set.Labels[i]] = append(classes[p.Split.Set.Labels[i]], i)
				}
			}
		}
	}
	found := 0
	for class, rows := range classes {
		if alone[class] != 1 {
			continue
		}
		read := soleRow(t, f, int(class[0]-'0'))
		if farFrom(tables["north"].Set.X.Row(rows[0], nil), read) < 0.01 {
			found++
		}
	}
	if found == 0 {
		t.Errorf("of %v training rows by class none of north's was read, want the attack to work without limits", alone)
	}
	for name, p := range f.Parties {
		if err := withLimits(j, name, tables[name]); fault.CodeOf(err) != fault.CodePolicy {
			t.Errorf("%s takes part with %d training rows: %v", name, len(p.Split.Rows(false)), err)
		}
	}
}

// A server submits two jobs over unchanged tables whose training rows differ by one: with every:
// 300 and every: 301, which parties once accepted, the class sums differ by the row that changes
// sides. A deployed party refuses such jobs. Two jobs with one fraction have the same training
// rows, whatever their other differences.
func TestAttackTwoJobsOverOneTable(t *testing.T) {
	sums := func(j *job.Job, tables map[string]method.Table) *linalg.Matrix[float64] {
		t.Helper()
		classes := linalg.New[float64](10, 64) // sums of rows, as tiny gammas make them readable
		for _, name := range j.Parties() {
			s, err := rows.Split(j, name, tables[name])
			if err != nil {
				t.Fatal(err)
			}
			for i, held := range s.Test {
				if !held {
					for c, v := range s.Set.X.Row(i, nil) {
						classes.Row(int(s.Set.Labels[i][0] - '0'))[c] += v
					}
				}
			}
		}
		return &classes
	}
	one, two := attackJob(t, "{every: 300}"), attackJob(t, "{every: 301}")
	tables := dealAll(t, one, "digits")
	a, b := sums(one, tables), sums(two, tables)
	single := 0
	for c := range 10 {
		difference := make([]float64, 64)
		for k := range difference {
			difference[k] = math.Abs(b.Row(c)[k] - a.Row(c)[k])
		}
		for _, name := range one.Parties() {
			for _, i := range []int{299, 300} {
				if farFrom(tables[name].Set.X.Row(i, nil), difference) == 0 {
					single++
				}
			}
		}
	}
	if single == 0 {
		t.Error("no row is the difference of two sums, want the attack to work where a job chooses rows")
	}
	for _, j := range []*job.Job{one, two} {
		if j.Deployable() == nil || j.Data.LeavesRows() == nil {
			t.Error("a deployed job chooses rows")
		}
	}
	third := attackJob(t, "{fraction: 0.25}")
	fourth := attackJob(t, "{fraction: 0.25}")
	fourth.Seed, fourth.Kernel.Gamma, job.As[*Keys](fourth.Protocol).Directions = 9, 5e-7, 64
	a, b = sums(third, tables), sums(fourth, tables)
	for k, v := range a.Data {
		if v != b.Data[k] {
			t.Fatal("two jobs with one fraction have other rows in training")
		}
	}
}

//go:build slow

package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	owners "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/sealed"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// opensFile is a job of four parties. Its protocol, kernel and learner, and what it compares, are open.
const opensFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: opens}
spec:
  seed: 7
  data:
    source: table
    label: label
    partition: {parties: [north, south, east, west]}
    test: {fraction: 0.25}
    scale: %s
%s  protocol: %s
  kernel: {name: rbf, gamma: %v}
  learner: %s
  compare: %s
  timeout: {join: 5m, round: 1h}
`

// opens is a table whose rows four parties hold.
type opens struct {
	name, scale string
	gamma       float64
	set         *dataset.Set
	classes     string  // of the labels, in order
	grouped     bool    // all rows of a group are held out together, and belong to one party
	exact       bool    // there are few enough rows for exact kernels
	least       float64 // how far the accuracy of sealed may be below that of the exact kernel on pooled rows
}

// figures are the accuracies of a table's jobs, and what they open.
type figures struct {
	rows, columns, training    int
	alone                      [2]float64 // least and greatest of the parties
	sealed, moments, okra      float64
	within                     float64 // of sealed and moments, for counts in fives
	pooledRidge, pooledSVC     float64
	numbers, features, entries int // of the model; of the sums
}

// What parties lose and what somebody learns by three ways to train together, and by none, on real tables. Figures are in
// docs/results.md. One seed decides which rows a party has and holds out, so that all ways predict the same rows.
func TestWhatEachOpens(t *testing.T) {
	for _, o := range []opens{
		{name: "digits", scale: "none", gamma: .0002, set: digitsOf(t), classes: `["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]`, exact: true, least: .03},
		{name: "phishing", scale: "none", gamma: .05, set: phishing(t), classes: `["0", "1"]`, exact: true, least: .03},
		{name: "default-credit, 9,000 people", scale: "standard", gamma: .02, set: someOf(credit(t), 9000), classes: `["0", "1"]`, exact: true, least: .03},
		{name: "default-credit, all", scale: "standard", gamma: .02, set: credit(t), classes: `["0", "1"]`, least: .03},
		{name: "MRI, by slices", scale: "none", gamma: 1.6e-7, set: withoutPeople(slicesOfBrains(t, 44, 52)), classes: "[MildDemented, ModerateDemented, NonDemented, VeryMildDemented]", exact: true, least: .25},
		{name: "MRI, by patients", scale: "none", gamma: 1.6e-7, set: onlyPeople(slicesOfBrains(t, 44, 52)), classes: "[MildDemented, ModerateDemented, NonDemented, VeryMildDemented]", grouped: true, exact: true, least: .05},
	} {
		t.Run(o.name, func(t *testing.T) {
			f := o.run(t)
			t.Logf("%s: %d x %d, %d in training: alone %.3f to %.3f, sealed %.3f, moments %.3f (within %.3f), okra (svc) %.3f, pooled ridge %.3f, pooled svc %.3f",
				o.name, f.rows, f.columns, f.training, f.alone[0], f.alone[1], f.sealed, f.moments, f.within, f.okra, f.pooledRidge, f.pooledSVC)
			t.Logf("numbers opened: sealed %d (to parties), moments %d sums of %d features (to the coordinator), okra %d products and %d labels (to the coordinator), pooled %d cells",
				f.numbers, f.entries, f.features, f.training*(f.training+1)/2, f.training, f.rows*f.columns)
			if f.sealed < f.moments-.02-2*f.within {
				t.Errorf("sealed has %.3f and moments %.3f", f.sealed, f.moments)
			}
			if f.sealed < f.pooledRidge-o.least-f.within {
				t.Errorf("sealed has %.3f, and the exact kernel on pooled rows %.3f", f.sealed, f.pooledRidge)
			}
		})
	}
}

// run trains in each way.
func (o opens) run(t *testing.T) (f figures) {
	t.Helper()
	f.rows, f.columns = o.set.X.Rows(), o.set.X.Cols()
	compare := "[pooled, alone]"
	r := o.simulate(t, "{name: sealed, classes: "+o.classes+"}", "{name: ridge-classifier}", compare)
	opened, err := method.DetailsOf[sealed.Details](r)
	if err != nil {
		t.Fatal(err)
	}
	d := opened.Sealed
	f.sealed, f.numbers, f.within, f.training, f.pooledRidge = r.Metrics["accuracy"], d.Numbers, d.Within, r.Training, r.Pooled["accuracy"]
	f.alone[0] = 1
	for _, a := range r.Alone {
		f.alone = [2]float64{min(f.alone[0], a.Metrics["accuracy"]), max(f.alone[1], a.Metrics["accuracy"])}
	}
	r = o.simulate(t, "{name: moments, classes: "+o.classes+"}", "{name: ridge-classifier, alpha: [0.01, 0.1, 1]}", "[]")
	sums, err := method.DetailsOf[moments.Details](r)
	if err != nil {
		t.Fatal(err)
	}
	f.moments, f.features = r.Metrics["accuracy"], sums.Sums.Features
	f.entries = f.features*(f.features+1)/2 + f.features*strings.Count(o.classes, ",") + f.features
	if o.exact {
		r = o.simulate(t, "{name: okra}", "{name: svc, C: 10}", "[pooled]")
		f.okra, f.pooledSVC = r.Metrics["accuracy"], r.Pooled["accuracy"]
	}
	return f
}

func (o opens) simulate(t *testing.T, protocolOf, learnerOf, compare string) *method.Result {
	t.Helper()
	group := ""
	if o.grouped {
		group = "    group: patient\n"
	}
	j := jobtest.Parse(t, fmt.Sprintf(opensFile, o.scale, group, protocolOf, o.gamma, learnerOf, compare))
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return o.set, nil })
	if err != nil {
		t.Fatal(err)
	}
	result, outcome, err := Run(context.Background(), Config{
		Reader: all.Reader(), Job: j, Shares: shares, Dir: t.TempDir(), Seed: daemon.InsecureSeeds(3), Usage: func() (float64, uint64) { return 0, 0 },
		Progress: func(protocol.Progress) {}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := baseline.Compare(t.Context(), owners.Local(), j, shares, outcome, result); err != nil {
		t.Fatal(err)
	}
	return result
}

// dataOf returns a path in the data folder, or skips the test unless the data must be there.
func dataOf(t *testing.T, name string) string {
	t.Helper()
	at := filepath.Join(os.Getenv("MERCER_DATA"), filepath.FromSlash(name))
	_, err := os.Stat(at)
	switch {
	case err == nil && os.Getenv("MERCER_DATA") != "":
		return at
	case os.Getenv("MERCER_REQUIRE_DATA") == "1":
		t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
	}
	t.Skipf("set MERCER_DATA to the folder of the data sets: %v", err)
	return ""
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(dataOf(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func must(t *testing.T) func(*dataset.Set, error) *dataset.Set {
	return func(s *dataset.Set, err error) *dataset.Set {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func digitsOf(t *testing.T) *dataset.Set { return must(t)(bundled.Load("digits")) }

func phishing(t *testing.T) *dataset.Set {
	return must(t)(dataset.ReadLIBSVM(open(t, "phishing/phishing"), dataset.LIBSVMOptions{Name: "phishing", Columns: 68}))
}

// credit joins the two parts of a table that two files hold by columns.
func credit(t *testing.T) *dataset.Set {
	guest := must(t)(dataset.ReadCSV(open(t, "default-credit/guest.csv"), dataset.CSVOptions{Name: "guest"}))
	host := must(t)(dataset.ReadCSV(open(t, "default-credit/host.csv"), dataset.CSVOptions{Name: "host", Label: "none"}))
	x := linalg.New[float64](guest.X.Rows(), guest.X.Cols()+host.X.Cols())
	for i := range x.Rows {
		if guest.IDs[i] != host.IDs[i] {
			t.Fatalf("row %d is of two people", i)
		}
		guest.X.Row(i, x.Row(i)[:guest.X.Cols()])
		host.X.Row(i, x.Row(i)[guest.X.Cols():])
	}
	return &dataset.Set{Name: "credit", X: dataset.NewDense(x), Labels: guest.Labels}
}

// someOf are n rows drawn at random.
func someOf(s *dataset.Set, n int) *dataset.Set {
	return s.Subset(rand.New(rand.NewPCG(1, 1)).Perm(s.X.Rows())[:n])
}

// onlyPeople drops the paths, and withoutPeople the groups, too.
func onlyPeople(s *dataset.Set) *dataset.Set {
	s.IDs = nil
	return s
}

func withoutPeople(s *dataset.Set) *dataset.Set {
	s.IDs, s.Groups = nil, nil
	return s
}

// brains says of how many people each class has slices, 32 of each.
var brains = map[string]int{"MildDemented": 28, "ModerateDemented": 2, "NonDemented": 100, "VeryMildDemented": 70}

// inTraining is the name of an image for training, and outOfIt of one of the test: its height in the brain and, unless it is
// the first, the person.
var (
	inTraining = regexp.MustCompile(`^[A-Za-z]+(\d+)\.jpg$`)
	outOfIt    = regexp.MustCompile(`^(\d+)(?: \((\d+)\))?\.jpg$`)
)

// slicesOfBrains are 6,400 slices of 200 brains in small, with their paths, and the people as groups.
func slicesOfBrains(t *testing.T, width, height int) *dataset.Set {
	s := must(t)(dataset.ReadImages(os.DirFS(dataOf(t, "alzheimer-mri")), dataset.ImageOptions{Name: "mri", ID: "path", Width: width, Height: height}))
	for i := range s.IDs {
		_, person := sliceOf(t, s.IDs[i])
		s.Groups = append(s.Groups, person)
	}
	return s
}

// sliceOf finds the height and the person of a slice by its path. Files of the test have both in their names. Those for
// training are numbered in the order that names like these have: by height, then by person, both as text, until four fifths
// of the class are numbered. TestSlicesOfOneBrain confirms it.
func sliceOf(t *testing.T, file string) (height int, person string) {
	t.Helper()
	class, name := path.Base(path.Dir(file)), path.Base(file)
	people := brains[class]
	if m := outOfIt.FindStringSubmatch(name); m != nil {
		height, _ = strconv.Atoi(m[1])
		return height, class + cmp.Or(m[2], "1")
	}
	m := inTraining.FindStringSubmatch(name)
	if m == nil {
		t.Fatalf("an image is called %q", file)
	}
	at, _ := strconv.Atoi(m[1])
	height = at/people + 1
	least, most := 2, people
	if rest := (32*people*4+4)/5 - people*(height-1); rest < people { // the last height is divided: the test has the others
		most = rest + 1
	}
	var order []string
	for p := least; p <= most; p++ {
		order = append(order, strconv.Itoa(p))
	}
	slices.Sort(order)
	order = append(order, "1") // "26.jpg" is behind "26 (2).jpg"
	return height, class + order[at%people]
}

// Of each slice, the nearest one at the next height of any brain of its class is the same person's, by the cosine. So the
// order of the files says whose a slice is.
func TestSlicesOfOneBrain(t *testing.T) {
	s := slicesOfBrains(t, 22, 26)
	type key struct {
		class  string
		height int
	}
	at := make(map[key][]int)
	x := make([][]float64, len(s.IDs))
	for i, id := range s.IDs {
		height, _ := sliceOf(t, id)
		at[key{s.Labels[i], height}] = append(at[key{s.Labels[i], height}], i)
		x[i] = s.X.Row(i, nil)
		if n := math.Sqrt(linalg.Dot(x[i], x[i])); n > 0 {
			for k := range x[i] {
				x[i][k] /= n
			}
		}
	}
	right := 0
	for k, list := range at {
		if len(list) != brains[k.class] {
			t.Errorf("%s has %d slices at height %d", k.class, len(list), k.height)
		}
		for _, i := range list {
			best, found := -1., ""
			for _, j := range at[key{k.class, k.height + 1}] {
				if d := linalg.Dot(x[i], x[j]); d > best {
					best, found = d, s.Groups[j]
				}
			}
			if found == s.Groups[i] {
				right++
			}
		}
	}
	if want := 31 * 200; right != want {
		t.Errorf("the nearest slice at the next height is the same person's for %d of %d slices", right, want)
	}
}

package secureboost

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/linalg"
)

// boosted is a job between three holders of columns.
func boosted(t testing.TB, protocol, settings string) *job.Job {
	t.Helper()
	return methodtest.Read(t, Protocol(), fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: boosted}
spec:
  data: {source: own, label: label, partition: {by: columns, parties: [guest, host, third], coverage: 0.9}, scale: standard}
  protocol: {name: secureboost, mode: paper%s}
  kernel: {name: linear}
  learner: {name: boosted-trees%s}
`, protocol, settings))
}

// run runs all steps of a job on wdbc.
func run(t *testing.T, j *job.Job, rows int) *methodtest.Typed[*server, *party] {
	t.Helper()
	f := methodtest.Join[*server, *party](t, Protocol(), j, columnstest.Share(t, j, columnstest.Numbered(t, "wdbc", rows)))
	f.Finish(t)
	return f
}

// With encryption and without, the label holder grows the same model, the coordinator receives its
// figures, and no other member has leaves.
func TestEncryptionChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const settings = ", rounds: 2, depth: 2, bins: 4"
	plain, sealed := run(t, boosted(t, ", he: none", settings), 120), run(t, boosted(t, "", settings), 120)
	for _, f := range []*methodtest.Typed[*server, *party]{plain, sealed} {
		m := f.Server.Metrics
		if len(m) != 4 || m["accuracy"] < 0.85 {
			t.Errorf("metrics %v", m)
		}
		f.JudgedBy(t, "guest", columnstest.Labels(columnstest.Numbered(t, "wdbc", 120)))
		for name, p := range f.Parties {
			if (p.training != nil) != (name == "guest") {
				t.Errorf("%s has leaves: %v", name, p.training != nil)
			}
		}
		if o := f.Server.Outcome(); o.Classes != nil || o.Decisions.Rows != 0 {
			t.Errorf("the coordinator has %+v", o)
		}
	}
	// The sessions have names of their own, and so the rows are held out otherwise: what
	// is compared is each with the training in one place.
	for name, f := range map[string]*methodtest.Typed[*server, *party]{"none": plain, "paillier": sealed} {
		if p, err := paramsOf(f.Job, f.Parties["guest"].Declared); err != nil || string(p.Spec().Encryption) != name {
			t.Errorf("he: %s: gradients are encrypted by %q, %v", name, p.Spec().Encryption, err)
		}
		if want := pooled(t, f); !reflect.DeepEqual(want, f.Parties["guest"].training.Model()) {
			t.Errorf("he: %s: the training in one place gives other trees", name)
		}
	}
}

// pooled returns the model of the same rows with all columns in one place.
func pooled(t *testing.T, f *methodtest.Typed[*server, *party]) boost.Model {
	t.Helper()
	guest := f.Parties["guest"]
	train, _ := guest.Training().Shape()
	own, err := NewTraining(guest.Job, guest.Set.Labels, train)
	if err != nil {
		t.Fatal(err)
	}
	var all boost.Columns
	for _, name := range guest.Parties {
		c := boost.Bin(f.Parties[name].Rows, train, learner.TreesOf(guest.Job).Bins)
		all.Codes, all.Cuts = append(all.Codes, c.Codes...), append(all.Cuts, c.Cuts...)
	}
	if err := boost.Fit(own.Booster, all, nil); err != nil {
		t.Fatal(err)
	}
	return own.Model()
}

// The trees have the job's settings, and learn the second class from the first rows.
func TestTrainingHasTheJobsSettings(t *testing.T) {
	const rows, train = 40, 30
	j := boosted(t, "", ", rounds: 3, depth: 2, bins: 4, rate: 0.5, lambda: 2, gamma: 0.01")
	want := boost.Params{Rounds: 3, Depth: 2, Rate: .5, Lambda: 2, Gamma: .01}
	if got := learner.TreesOf(j); got.Params != want || got.Bins != 4 {
		t.Errorf("settings %+v", got)
	}
	x, labels, y := linalg.New[float64](rows, 2), make([]string, rows), make([]float64, rows)
	for i := range rows {
		x.Row(i)[0], x.Row(i)[1] = float64(i*7%rows), float64(i*11%rows)
		if labels[i] = "ill"; x.Row(i)[0]+x.Row(i)[1] > rows {
			labels[i], y[i] = "well", 1
		}
	}
	own, err := NewTraining(j, labels, train)
	if err != nil {
		t.Fatal(err)
	}
	b, err := boost.New(want, y[:train], rows)
	if err != nil {
		t.Fatal(err)
	}
	for _, trees := range []*boost.Booster{own.Booster, b} {
		if err := boost.Fit(trees, boost.Bin(x, train, 4), nil); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(own.Model(), b.Model()) {
		t.Errorf("model %+v, want %+v", own.Model(), b.Model())
	}
}

func TestThreeClassesAreRefused(t *testing.T) {
	if _, err := NewTraining(boosted(t, "", ""), []string{"a", "b", "c", "a"}, 3); err == nil || !strings.Contains(err.Error(), "two classes") {
		t.Errorf("error %v", err)
	}
	if _, err := NewTraining(boosted(t, "", ""), []string{"a", "a", "b"}, 2); err == nil || !strings.Contains(err.Error(), "same label") {
		t.Errorf("error %v", err)
	}
}

// A host releases its columns only for training rows, in sums.
func TestDisclosure(t *testing.T) {
	f := run(t, boosted(t, ", he: none", ", rounds: 1"), 120)
	for name, p := range f.Parties {
		train, _ := p.Training().Shape()
		if r := f.Releases(t, name, "protocol"); len(r) != 1 || len(r[0].Among) != train || (r[0].Label != "") != (name == "guest") {
			t.Errorf("%s lets out %+v", name, r)
		}
	}
}

func TestLeakageNamesTheLabels(t *testing.T) {
	for he, want := range map[string]string{"none": "their signs are the labels", "paillier": "It learns no gradient and no sum"} {
		lines := Leakage(boosted(t, ", he: "+he, ""), 100)
		if !strings.Contains(strings.Join(lines["passive"], " "), want) {
			t.Errorf("he: %s: %v", he, lines["passive"])
		}
	}
}

func FuzzDecodeFinding(f *testing.F) {
	f.Add(finding{metrics: learner.Metrics{"accuracy": 0.5}, model: [32]byte{1}}.encode())
	f.Add(make([]byte, findingBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeFinding(b)
		if err != nil {
			return
		}
		if len(b) != findingBytes || !bytes.Equal(v.encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, v)
		}
	})
}

// Labels of a table without any are a fault of the data.
func TestNoLabels(t *testing.T) {
	set := columnstest.Numbered(t, "wdbc", 10)
	j := boosted(t, "", "")
	tables := columnstest.Share(t, j, &dataset.Set{Name: set.Name, X: set.X, IDs: set.IDs, Columns: set.Columns, Labels: set.Labels})
	guest := tables["guest"]
	guest.Set.Labels = nil
	if _, err := Protocol().Party(methodtest.Instance(j), "guest", guest); err == nil {
		t.Error("a guest without labels takes part")
	}
}

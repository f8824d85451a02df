package baseline

import (
	"bytes"
	"os"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/partition/partitiontest"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/model"
)

const oneTable = `apiVersion: mercer/v1
kind: Job
metadata: {name: one-table}
spec:
  data: {source: all, label: label}
  protocol: {name: pooled}
  kernel: {name: rbf, gamma: 0.1}
  learner: {name: svc, cache_size: 8}
`

func runOneTable(t *testing.T, j *job.Job, set *dataset.Set) (*method.Result, *method.Outcome) {
	t.Helper()
	r, o, _ := run(t, j, map[string]*dataset.Set{"all": set})
	return r, o
}

// One table needs no parties: a quarter of the rows is held out, or none, and the model is
// a file that predicts from raw rows.
func TestOneTable(t *testing.T) {
	j := jobtest.Parse(t, oneTable)
	r, o := runOneTable(t, j, partitiontest.WDBC(t, 0, 200))
	if r.Training+r.HeldOut != 200 || r.HeldOut < 30 || len(o.Predicted) != r.HeldOut || r.Metrics["accuracy"] < .9 || r.Alone != nil || r.Pooled != nil {
		t.Errorf("%d in training, %d held out, %v, alone %v, pooled %v", r.Training, r.HeldOut, r.Metrics, r.Alone, r.Pooled)
	}
	if list := partition.Refusals(j, []partition.Share{{}}, 200); list != nil {
		t.Errorf("parties that are not there refuse: %q", list)
	}
	all := jobtest.With(t, j, map[string]string{"data.test": "none"})
	r, o = runOneTable(t, all, partitiontest.WDBC(t, 0, 200))
	if r.Training != 200 || r.HeldOut != 0 || len(r.Metrics) != 0 || len(o.Predicted) != 0 {
		t.Errorf("%d in training, %d held out, %v", r.Training, r.HeldOut, r.Metrics)
	}
	b, err := os.ReadFile(r.Models[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Open(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := m.Decisions(dataset.DenseOf(partitiontest.WDBC(t, 200, 9).X).Matrix()); err != nil || d.Rows != 9 {
		t.Errorf("%d decisions on new rows, %v", d.Rows, err)
	}
}

// A separate table may hold the test rows, also without parties.
func TestOneTableAndItsTest(t *testing.T) {
	j := jobtest.With(t, jobtest.Parse(t, oneTable), map[string]string{"data.test": "{source: new}"})
	r, o, _ := run(t, j, map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 200), "new": partitiontest.WDBC(t, 200, 50)})
	if r.Training != 200 || r.HeldOut != 50 || len(o.Predicted) != 50 {
		t.Errorf("%d in training, %d held out", r.Training, r.HeldOut)
	}
}

// Without held-out rows a learner's figures of the training remain.
func TestFiguresOfTheTraining(t *testing.T) {
	for learner, want := range map[string][]string{
		"{name: kpca}": {"explained_variance_training"}, "{name: kmeans, n_clusters: 2}": {"inertia_training"},
		"{name: gp}": {"log_marginal_likelihood"}, "{name: ridge}": nil, "{name: one-class}": nil,
	} {
		j := jobtest.With(t, jobtest.Parse(t, oneTable), map[string]string{"data.test": "none", "learner": learner})
		r, _ := runOneTable(t, j, partitiontest.WDBC(t, 0, 60))
		var got []string
		for name := range r.Metrics {
			got = append(got, name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: figures %v, want %v", learner, got, want)
		}
	}
}

// Rows whose matrix would not fit are trained on within the job's cache size: the matrix of
// these takes 1.8 GB, and the cross kernel of held-out rows and support 180 MB.
func TestMemoryOfOneTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	set, err := generated.Marks(15_000, 60, .1)
	if err != nil {
		t.Fatal(err)
	}
	j := jobtest.Parse(t, oneTable)
	before := heap()
	most := watch(t, func() {
		r, _ := runOneTable(t, j, set)
		if r.Support < 2000 || r.Metrics["accuracy"] < .55 {
			t.Errorf("%d support vectors, %v", r.Support, r.Metrics)
		}
	})
	t.Logf("%d MiB at the peak", (most-before)>>20)
	const bound = 150 << 20
	if most-before > bound {
		t.Errorf("%d MiB at the peak, want %d at most", (most-before)>>20, bound>>20)
	}
}

// watch returns the largest heap, including garbage, while f runs.
func watch(t *testing.T, f func()) uint64 {
	t.Helper()
	var most uint64
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
				most = max(most, heap())
			}
		}
	})
	f()
	close(done)
	group.Wait()
	return most
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

//go:build slow

package coordinator_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// spent is the CPU time of this process so far.
func spent(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The second job by FDSKL over the tables of a9a, by the alignment of the first, takes at most a quarter of its CPU
// seconds.
func TestSecondJobOfAnAlignment(t *testing.T) {
	data := os.Getenv("MERCER_DATA")
	if data == "" {
		t.Skip("needs MERCER_DATA with a9a")
	}
	text, err := os.ReadFile("../../../examples/fdskl-a9a.yaml")
	if err != nil {
		t.Fatal(err)
	}
	j := jobtest.Parse(t, strings.NewReplacer("a9a/a9a + a9a/a9a.t", "people", "  seed: 1\n", "", "compare: [pooled, alone]", "compare: []\n  timeout: {join: 5m, round: 5m}",
		"[treasury, registry, employer, school]", "[north, south, east, west]", "by: columns,", "by: columns, alignment: people,").Replace(string(text)))
	whole, err := catalogue.New(data).Load("a9a/a9a + a9a/a9a.t", catalogue.Columns{Label: "label"})
	if err != nil {
		t.Fatal(err)
	}
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return whole, nil })
	if err != nil {
		t.Fatal(err)
	}
	w := newTestbed(t, shares)
	w.random = true
	w.startAll()
	var took [2]time.Duration
	for i := range took {
		begun := spent(t)
		done := w.waitFor(w.submit(j), 10*time.Minute)
		took[i] = spent(t) - begun
		if done.Failure != nil || done.Result == nil {
			t.Fatalf("%+v %+v", done, done.Failure)
		}
		t.Logf("job %d: %.1f CPU seconds, accuracy %.4f", i+1, took[i].Seconds(), done.Result.Metrics["accuracy"])
	}
	if 4*took[1] > took[0] {
		t.Errorf("the second job takes %.2f of the first one's CPU seconds", took[1].Seconds()/took[0].Seconds())
	}
}

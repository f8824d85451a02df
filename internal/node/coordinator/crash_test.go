package coordinator_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/transport/nats"
)

// pick returns the operations of a member before which it dies. It has seen the kinds of
// operations that members before it die of.
type pick func(name string, ops []string, seen map[string]bool) []int

// crashing is a job whose processes die.
type crashing struct {
	testbed  func(t *testing.T) (*testbed, *job.Job)
	points   pick
	fewest   int // operations that each member does
	patience time.Duration
}

// operations runs the job undisturbed and lists what each member does.
func (c crashing) operations(t *testing.T) (ops map[string][]string, model string) {
	t.Helper()
	w, j := c.testbed(t)
	ops = make(map[string][]string)
	var mu sync.Mutex
	for _, m := range w.roster.Members {
		w.start(m.Name, func(op string) bool {
			mu.Lock()
			defer mu.Unlock()
			ops[m.Name] = append(ops[m.Name], op)
			return false
		})
	}
	done := w.waitFor(w.submit(j), c.patience)
	if done.Failure != nil {
		t.Fatalf("the job failed: %+v", done.Failure)
	}
	for name := range ops {
		w.halt(name)
	}
	return ops, done.Result.ModelHash
}

// A process that dies before any of its operations, and comes back, ends in
// the same model as an undisturbed one.
func TestCrashAnywhereEndsInTheSameModel(t *testing.T) {
	t.Parallel()
	crashing{points: crashPoints, fewest: 20, patience: 30 * time.Second, testbed: func(t *testing.T) (*testbed, *job.Job) {
		j := parse(t, "")
		return newTestbed(t, tumours(t, j)), j
	}}.everywhere(t)
}

// The same over a broker, which dies with the coordinator, and whose queues hold two
// messages of a sender where there are six and more to send: what is killed has sent a
// part of its rows, and others wait for room.
func TestCrashAnywhereOverABroker(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts a broker for each life")
	}
	shares := wide(map[string]int{"north": 7, "south": 3, "east": 4})
	crashing{points: brokerPoints, fewest: 30, patience: 2 * time.Minute, testbed: func(t *testing.T) (*testbed, *job.Job) {
		j := jobtest.Parse(t, wideJob)
		w := newTestbed(t, shares)
		w.onBroker(func(c *nats.Config) { c.Share = 2 })
		return w, j
	}}.everywhere(t)
}

func (c crashing) everywhere(t *testing.T) {
	ops, model := c.operations(t)
	seen, deaths := make(map[string]bool), 0
	for _, name := range []string{hub, "north", "south"} { // east is another south
		if len(ops[name]) < c.fewest {
			t.Fatalf("%s does %d things only: %q", name, len(ops[name]), ops[name])
		}
		points := c.points(name, ops[name], seen)
		deaths += len(points)
		t.Logf("%s dies at %d of %d operations", name, len(points), len(ops[name]))
		for _, n := range points {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				w, j := c.testbed(t)
				op := dieAt(w, name, n)
				w.startAll()
				id := w.submit(j)
				after := w.waitFor(id, c.patience)
				if after.Failure != nil {
					t.Fatalf("it died before %q, and the job failed: %+v", *op, after.Failure)
				}
				if got := after.Result.ModelHash; got != model {
					t.Errorf("it died before %q; model %s, undisturbed %s", *op, got, model)
				}
			})
		}
	}
	if deaths < 10 {
		t.Errorf("they die at %d operations only", deaths)
	}
}

// dieAt starts a member that dies before its nth operation, which it names.
func dieAt(w *testbed, name string, n int) *string {
	count, op := 0, new(string)
	w.start(name, func(now string) bool {
		count++
		if count-1 == n {
			*op = now
		}
		return count-1 == n
	})
	return op
}

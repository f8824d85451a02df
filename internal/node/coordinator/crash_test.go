package coordinator_test

import (
	"fmt"
	"slices"
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
	beside   func(t *testing.T) *job.Job // a second job that runs side by side with the first; nil: none
	members  []string                    // whose deaths are tried; nil: hub, north and south, since east is another south
	points   pick
	dies     func(w *testbed, name string, n int) (op *string) // nil: dieAt
	fewest   int                                               // operations that each member does
	patience time.Duration
}

// operations runs the job undisturbed and lists what each member does.
func (c crashing) operations(t *testing.T) (ops map[string][]string, models []string) {
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
	models = c.models(t, w, j, "undisturbed")
	for name := range ops {
		w.halt(name)
	}
	return ops, models
}

// models submits the jobs and returns the hashes of their models.
func (c crashing) models(t *testing.T, w *testbed, j *job.Job, when string) (models []string) {
	t.Helper()
	ids := []job.ID{w.submit(j)}
	if c.beside != nil {
		ids = append(ids, w.submit(c.beside(t)))
	}
	for _, id := range ids {
		done := w.waitFor(id, c.patience)
		if done.Failure != nil {
			t.Fatalf("%s: job %s failed: %+v", when, done.Spec.Name, done.Failure)
		}
		models = append(models, done.Result.ModelHash)
	}
	return models
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
	ops, want := c.operations(t)
	seen, deaths := make(map[string]bool), 0
	if c.dies == nil {
		c.dies = dieAt
	}
	if c.members == nil {
		c.members = []string{hub, "north", "south"}
	}
	for _, name := range c.members {
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
				op := c.dies(w, name, n)
				w.startAll()
				got := c.models(t, w, j, fmt.Sprintf("%s died at operation %d", name, n))
				if !slices.Equal(got, want) {
					t.Errorf("it died before %q; models %s, undisturbed %s", *op, got, want)
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
	op := new(string)
	w.start(name, nth(n, op))
	return op
}

// nth returns a function that reports the nth operation, from 0, and names it in op.
func nth(n int, op *string) func(now string) bool {
	count := 0
	return func(now string) bool {
		count++
		if count-1 == n {
			*op = now
		}
		return count-1 == n
	}
}

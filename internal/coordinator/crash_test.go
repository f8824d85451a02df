package coordinator_test

import (
	"fmt"
	"sync"
	"testing"
)

// operations runs the job undisturbed and lists what each member does.
func operations(t *testing.T) (ops map[string][]string, model string) {
	j := parse(t, "")
	w := newWorld(t, tumours(t, j))
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
	model = w.mustRun(j).Result.ModelHash
	for name := range ops {
		w.halt(name)
	}
	return ops, model
}

// A process that dies before any of its operations, and comes back, ends in
// the same model as an undisturbed one.
func TestCrashAnywhereEndsInTheSameModel(t *testing.T) {
	ops, model := operations(t)
	seen := make(map[string]bool)
	for _, name := range []string{hub, "north", "south"} { // east is another south
		if len(ops[name]) < 20 {
			t.Fatalf("%s does %d things only: %q", name, len(ops[name]), ops[name])
		}
		points := crashPoints(name, ops[name], seen)
		t.Logf("%s dies at %d of %d operations", name, len(points), len(ops[name]))
		for _, n := range points {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				j := parse(t, "")
				w := newWorld(t, tumours(t, j))
				op := dieAt(w, name, n)
				w.startAll()
				id := w.submit(j)
				after := w.wait(id)
				if after.Failure != nil {
					t.Fatalf("it died before %q, and the job failed: %+v", *op, after.Failure)
				}
				if got := after.Result.ModelHash; got != model {
					t.Errorf("it died before %q; model %s, undisturbed %s", *op, got, model)
				}
			})
		}
	}
}

// dieAt starts a member that dies before its nth operation, which it names.
func dieAt(w *world, name string, n int) *string {
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

package coordinator_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// A question about the model of a job with folds reads the rows that there are now, as every question does, and not the
// edition of the job.
func TestQuestionsOfAJobWithFoldsAreQuestions(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("{name: okra}", "{name: gram}", "partition: {parties", "folds: 3\n    partition: {by: columns, parties", "C: 10", "C: [1, 10]").Replace(fmt.Sprintf(jobFile, openJob))
	w, id, rows := trained(t, jobtest.Parse(t, text))
	var asks, jobs atomic.Int32
	w.reads = func(name string, d job.Data) (method.Table, error) {
		if d.Source != newSource {
			return w.table(name), nil
		}
		if jobs.Add(1); d.Asks() {
			asks.Add(1)
		}
		return w.fresh[name], nil
	}
	w.mustAnswer("north", id, rows)
	if jobs.Load() == 0 || asks.Load() != jobs.Load() {
		t.Errorf("%d of %d readings of new rows are for a question", asks.Load(), jobs.Load())
	}
}

package moments

import (
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/randommodel"
)

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	return methodtest.Read(t, Protocol(), text)
}

type federated struct {
	*methodtest.Typed[*server, *party]
}

// federate makes everybody ready for a job.
func federate(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	return &federated{methodtest.Join[*server, *party](t, Protocol(), j, tables)}
}

// runSteps runs all steps of a job between parties with these tables.
func runSteps(t *testing.T, j *job.Job, tables map[string]method.Table) *federated {
	t.Helper()
	f := federate(t, j, tables)
	f.Finish(t)
	return f
}

// settle returns the session that follows from the public values.
func settle(t *testing.T, s *method.Session, k public) *method.Session {
	t.Helper()
	settled, err := s.After(k, nil)
	if err != nil {
		t.Fatal(err)
	}
	return settled
}

// partyOf prepares a party of the job whose operator sets no limits.
func partyOf(t *testing.T, j *job.Job, name string, table method.Table) *party {
	t.Helper()
	p, err := Protocol().Party(methodtest.Instance(j), name, table)
	if err != nil {
		t.Fatal(err)
	}
	return p.State.(*party)
}

// withLimits returns the refusal of a party with the usual limits.
func withLimits(j *job.Job, name string, table method.Table) error {
	c := methodtest.Instance(j)
	c.Limits = method.DefaultLimits()
	_, err := Protocol().Party(c, name, table)
	return err
}

// predict answers from a party's retained state.
func predict(k method.RetainedState, set *dataset.Set) (*method.Prediction, error) {
	return randommodel.Stored(k.Body).Predict(set)
}

func every(lo, hi int) []int {
	var rows []int
	for i := lo; i < hi; i++ {
		rows = append(rows, i)
	}
	return rows
}

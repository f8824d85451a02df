package coordinator_test

import (
	"os"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// goldenPhases are other homes of an earlier program: with a finished job by fdskl whose
// model can be asked, and one by moments whose coordinator died between two sessions. While nothing
// has been released, a change of the bytes of a session writes them anew:
//
//	MERCER_GOLDEN=write go test -run TestGoldenPhases ./internal/node/coordinator
const goldenPhases = "testdata/homes-2.tar.gz"

// phasesTestbed has the members of these homes after the job by fdskl.
func phasesTestbed(t *testing.T) (*testbed, golden) {
	t.Helper()
	w := goldenTestbed(t).lets(pausedJob(t))
	j := opened(t, phases(t, "{join: 20s, round: 20s}"))
	w.give(firstTumours(t, j, 80))
	id := w.mustRun(j).ID
	return w, golden{Jobs: map[string]string{"fdskl": id.String()}, Says: map[string][]string{"fdskl": w.says("gram", id)}}
}

// pausedJob is the job that was under way.
func pausedJob(t *testing.T) *job.Job {
	t.Helper()
	return moments(t, ", directions: 4", openJob)
}

func writePhases(t *testing.T) {
	j := pausedJob(t)
	undisturbed, _ := phasesTestbed(t)
	undisturbed.give(firstTumours(t, j, 80))
	model := undisturbed.mustRun(j).Result.ModelHash
	w, g := phasesTestbed(t)
	w.give(firstTumours(t, j, 80))
	w.halt(hub)
	w.start(hub, onThe(4, "create"))
	id := w.submit(j)
	w.untilDead(hub)
	g.Jobs["open"], g.Model = id.String(), model
	w.pack(g, goldenPhases)
}

// An upgrade answers questions about a model of fdskl. The job that was under way goes on
// after the sessions that had ended, whose journals give what they gave, and comes to the
// same model. That its members call themselves the build that began it stands for a change
// that changes no byte.
func TestGoldenPhases(t *testing.T) {
	if os.Getenv("MERCER_GOLDEN") == "write" {
		writePhases(t)
	}
	w := goldenTestbed(t)
	g := openGolden(t, w, goldenPhases)
	w.give(firstTumours(t, pausedJob(t), 80))
	w.startAll()
	done := w.wait(g.id(t, "open"))
	if done.Failure != nil || done.Result == nil || done.Result.ModelHash != g.Model || g.Model == "" {
		t.Errorf("%+v, want model %q", done.Status, g.Model)
	}
	old, err := w.members[hub].boss.Get(g.id(t, "fdskl"))
	if err != nil || old.State != overview.Done || old.Result == nil || old.Result.Training < 20 {
		t.Errorf("fdskl: %+v, %v", old.Status, err)
	}
	if got := w.says("gram", g.id(t, "fdskl")); len(got) < 15 || !slices.Equal(got, g.Says["fdskl"]) {
		t.Errorf("fdskl said %q and says %q", g.Says["fdskl"], got)
	}
}

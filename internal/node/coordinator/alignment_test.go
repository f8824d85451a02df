package coordinator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// under gives a job's alignment a name.
func under(t *testing.T, j *job.Job, name string) *job.Job {
	t.Helper()
	return jobtest.With(t, j, map[string]string{"data.partition.alignment": name})
}

// searches counts the sessions in which a party's peers have looked for ids.
func (w *testbed) searches(name string) (n int) {
	peers, err := w.releases(name).Peers()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range peers {
		n = max(n, p.Sessions)
	}
	return n
}

// The first job with the name of an alignment compares ids, and later ones of any protocol use its
// result: they hold out the same rows, and nobody looks up ids. So a job that fits columns passes a
// second time without an approval.
func TestNamedAlignment(t *testing.T) {
	t.Parallel()
	first := under(t, jobtest.With(t, columns(t), map[string]string{"data.scale": "standard"}), "people")
	w := newTestbed(t, tumours(t, first))
	w.random = true
	one := w.mustRun(first)
	order := w.aligned("south")
	two := w.mustRun(first)
	if spec := two.Spec.Data.Partition; spec.AlignedBy != one.ID || one.Spec.Data.Partition.AlignedBy != (job.ID{}) {
		t.Errorf("the second job is aligned by %v, want %v", spec.AlignedBy, one.ID)
	}
	if d := cmp.Diff(one.Result.Metrics, two.Result.Metrics); d != "" || len(order) < 20 || !slices.Equal(order, w.aligned("south")) {
		t.Errorf("%d rows, and then %d; metrics %s", len(order), len(w.aligned("south")), d)
	}
	for job, result := range map[string]*method.Result{"first": one.Result, "second": two.Result} {
		compares := strings.Contains(strings.Join(result.Leakage["server"], "\n"), "compares the blinded sets")
		if compares != (job == "first") {
			t.Errorf("the %s job's leakage: the server compares ids: %t", job, compares)
		}
	}
	if said := strings.Join(two.Result.Leakage["party"], "\n"); !strings.Contains(said, "alignment people of an earlier job") {
		t.Errorf("the second job's leakage: %s", said)
	}
	for _, name := range first.Parties() {
		if n := w.searches(name); n != 1 {
			t.Errorf("%s was searched %d times", name, n)
		}
	}
	if third := w.mustRun(under(t, phases(t, "{join: 20s, round: 20s}"), "people")); third.Spec.Data.Partition.AlignedBy != one.ID || !slices.Equal(order, w.aligned("south")) {
		t.Errorf("a job of another protocol is aligned by %v", third.Spec.Data.Partition.AlignedBy)
	}
	if other := w.run(under(t, phases(t, "{join: 20s, round: 20s}"), "others")); other.Spec.Data.Partition.AlignedBy != (job.ID{}) {
		t.Errorf("a job with another name is aligned by %v", other.Spec.Data.Partition.AlignedBy)
	}
}

// Alignments that do not fit are refused: with people who are gone, erased ones, another name or table
// that a coordinator writes beside it, and other parties.
func TestAlignmentsThatAreRefused(t *testing.T) {
	t.Parallel()
	first := under(t, columns(t), "people")
	w := newTestbed(t, tumours(t, first))
	w.random = true
	one := w.mustRun(first)
	fails := func(what string, j *job.Job, want string) {
		t.Helper()
		if f := w.run(j).Failure; f == nil || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %+v, want %q", what, f, want)
		}
	}
	wrong := jobtest.With(t, under(t, columns(t), "others"), map[string]string{"data.partition.aligned_by": one.ID.String()})
	fails("another name", wrong, "alignment others of job "+one.ID.String()+" is one with another name")

	whole := w.table("south")
	w.brings("south", rowsOf(whole, slices.Concat(span(0, 3), span(4, whole.Set.X.Rows()))))
	gone := slices.Contains(w.aligned("south"), whole.Set.IDs[3])
	if again := w.run(first); (again.Failure != nil) != gone {
		t.Errorf("one row is gone, among the common ones: %v; %+v", gone, again.Failure)
	}
	common := slices.IndexFunc(whole.Set.IDs, func(id string) bool { return slices.Contains(w.aligned("south"), id) })
	w.brings("south", rowsOf(whole, slices.Concat(span(0, common), span(common+1, whole.Set.X.Rows()))))
	fails("a common row is gone", first, "stage all-gather: south refused: its data cannot be used for this job")
	w.brings("south", whole)
	w.mustRun(first)

	if _, err := w.members["east"].party.Forget(one.ID); err != nil {
		t.Fatal(err)
	}
	fails("forgotten", first, "east no longer has alignment people of job "+one.ID.String()+"; give the alignment a new name")
}

// Members that begin again have the alignment still.
func TestNamedAlignmentAfterARestart(t *testing.T) {
	t.Parallel()
	j := under(t, phases(t, "{join: 20s, round: 20s}"), "people")
	w := newTestbed(t, tumours(t, j))
	w.random = true
	w.mustRun(j)
	for _, name := range []string{"north", "south", hub} {
		w.halt(name)
		w.start(name, never)
		if done := w.mustRun(j); done.Spec.Data.Partition.AlignedBy == (job.ID{}) {
			t.Errorf("after %s began again, ids are compared", name)
		}
	}
}

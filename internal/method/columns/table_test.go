package columns_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

func of(j *job.Job) method.Instance { return methodtest.Instance(j) }

func TestTablesThatAreRefused(t *testing.T) {
	j := modelPartJob(t, "gram", "  kernel: {name: linear}\n  learner: {name: svc}\n")
	set := columnstest.Numbered(t, "wdbc", 30)
	unnumbered, twice, unlabelled := *set, *set, *set
	unnumbered.IDs, unlabelled.Labels = nil, nil
	twice.IDs = slices.Clone(set.IDs)
	twice.IDs[7] = twice.IDs[3]
	long := *set
	long.Labels = slices.Clone(set.Labels)
	long.Labels[2] = strings.Repeat("x", 1025)
	for want, c := range map[string]struct {
		self string
		set  *dataset.Set
	}{
		"has no ids, which the parties need to match their rows": {"host", &unnumbered},
		"rows 4 and 8 have the same id":                          {"host", &twice},
		"wdbc:4: the label has 1025 bytes":                       {"guest", &long},
		`no column "label"`:                                      {"guest", &unlabelled},
	} {
		if _, err := columns.Of(of(j), c.self, method.Table{Set: c.set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if p, err := columns.Of(of(j), "host", method.Table{Set: set}); err != nil || p.Table.Labels != nil {
		t.Errorf("a host keeps its labels in the job: %v", err)
	}
}

// Only these timers wait for others' work, wherever machines have such timers: all
// others last one round.
func TestPatientTimers(t *testing.T) {
	o := modelParts(t)["label holder"]
	planned := func(j *job.Job) []method.Step {
		plan, err := j.Protocol.Kind.(*method.Protocol).Plan(of(j))
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	opened, err := o.Job.Protocol.Kind.(*method.Protocol).OpenParty(o.RetainedState(), all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	asked, err := opened.(method.Inquirer).Plan(method.Question{Instance: of(o.Job), Asker: o.Job.Parties()[0]})
	if err != nil {
		t.Fatal(err)
	}
	longer := make(map[string]int)
	for _, st := range slices.Concat(planned(o.Job), asked, planned(modelParts(t)["holder"].Job)) {
		if st.Session == nil {
			continue
		}
		for _, timer := range []protocol.Timer{okra.TimerReceipt, okra.TimerRows, fdskl.TimerRequest, fdskl.TimerPhases, secagg.TimerServer, secagg.TimerMasked, collective.TimerBroadcast} {
			switch round := o.Job.Timeout.Round; st.Session.Timeout(timer, round) {
			case round:
			case 24 * round:
				longer[st.Name+" "+string(timer)]++
			default:
				t.Errorf("%s: %s lasts neither one round nor many", st.Name, timer)
			}
		}
	}
	want := map[string]int{"protocol fdskl/request": 2}
	if d := cmp.Diff(want, longer); d != "" {
		t.Error(d)
	}
}

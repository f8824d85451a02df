package stage

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	nothing "github.com/mercer-fl/mercer/internal/method/pooled"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: small
    label: label
    partition: {parties: [north, south]}
    scale: %s
    test: %s
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

func parse(t testing.TB, scale, test string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(jobFile, scale, test))
}

func TestPlanRefuses(t *testing.T) {
	j := parse(t, "minmax", "{fraction: 0.25}")
	pooled := *j
	pooled.Protocol = job.Named{Kind: nothing.Method{}, Values: new(nothing.Keys)}
	among := func(j *job.Job, parties ...string) error {
		m, err := Of(j)
		if err == nil {
			_, err = method.Plan(m, method.Case{Job: j, ID: job.ID{1}, Coordinator: "hub", Parties: parties})
		}
		return err
	}
	for want, err := range map[string]error{
		"a job of 1 parties; name at least two": among(j, "north"),
		"the coordinator hub cannot be a party": among(j, "north", "hub"),
		`protocol "pooled" cannot be run`:       among(&pooled, "north", "south"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Only these timers wait for others' work, wherever machines have such timers: all
// others last one round.
func TestPatientTimers(t *testing.T) {
	phases := portions(t)["label holder"].Job
	planned := func(j *job.Job) []Stage {
		plan, err := Plan(j, Cast{job.ID{1}, "hub", j.Parties()})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	asked, err := PlanInquiry(phases, Cast{job.ID{1}, "hub", phases.Parties()}, phases.Parties()[0], Basis{})
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Concat(planned(phases), asked, planned(gramJob(t, []string{"guest", "host"}, "none", "svc")))
	longer := make(map[string]int)
	for _, st := range all {
		if st.Session == nil {
			continue
		}
		for _, timer := range []protocol.Timer{okra.TimerReceipt, okra.TimerRows, fdskl.TimerRequest, fdskl.TimerPhases, secagg.TimerServer, secagg.TimerMasked, broadcast.TimerTell} {
			switch round := phases.Timeout.Round; st.Session.framed().Timeout(timer, round) {
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

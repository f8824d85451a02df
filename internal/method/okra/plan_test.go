package okra

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
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

// read reads a job file that has no mistake.
func read(t testing.TB, text string) *job.Job {
	t.Helper()
	return methodtest.Read(t, Protocol(), text)
}

func parse(t testing.TB, scale, test string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(jobFile, scale, test))
}

// partyOf is a party with a table, whose operator sets no limits.
func partyOf(t testing.TB, set *dataset.Set) *party {
	t.Helper()
	p, err := Protocol().Party(methodtest.Instance(parse(t, "none", "{every: 3}")), "north", method.Table{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return p.State.(*party)
}

// set has n rows of two features and labels a, b, a, b, ...
func set(n int) *dataset.Set {
	m := linalg.New[float64](n, 2)
	labels := make([]string, n)
	for i := range labels {
		m.Row(i)[0], m.Row(i)[1] = float64(i), float64(i)+0.25*float64(i%3)
		labels[i] = string(rune('a' + i%2))
	}
	return &dataset.Set{Name: "small.csv", X: dataset.NewDense(m), Labels: labels}
}

func TestPlan(t *testing.T) {
	leader := protocol.Member{Name: "north", Role: protocol.RoleLeader}
	south := protocol.Member{Name: "south", Role: protocol.RoleParty}
	server := protocol.Member{Name: "hub", Role: protocol.RoleServer}
	for scale, want := range map[string][]string{
		"none":     {"column-order", "protocol", "learn", "evaluate"},
		"minmax":   {"column-order", "scale", "protocol", "learn", "evaluate"},
		"standard": {"column-order", "scale", "protocol", "learn", "evaluate"},
	} {
		plan, err := Protocol().Plan(methodtest.Instance(parse(t, scale, "{fraction: 0.25}")))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, st := range plan {
			names = append(names, st.Name)
			members := []protocol.Member{server, leader, south}
			if st.Name == "column-order" || st.Name == "scale" { // the coordinator takes no part in them
				members = members[1:]
			}
			if st.Session != nil && !slices.Equal(st.Session.Members, members) {
				t.Errorf("stage %s has members %v, want %v", st.Name, st.Session.Members, members)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("scale %s: stages %v, want %v", scale, names, want)
		}
	}
}

func TestPlanWithFolds(t *testing.T) {
	plan, err := Protocol().Plan(methodtest.Instance(read(t, strings.Replace(fmt.Sprintf(jobFile, "none", ""), "test: ", "folds: 3", 1))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, st := range plan {
		names = append(names, st.Name)
	}
	if d := cmp.Diff([]string{"column-order", "protocol", "tune", "learn", "evaluate"}, names); d != "" {
		t.Error(d)
	}
}

// A party reveals the number of features only if the Gram matrix does.
func TestFacts(t *testing.T) {
	p := partyOf(t, set(9))
	if f := p.facts(); f != (method.Facts{}) {
		t.Errorf("before the upload: %+v, want nothing", f)
	}
	p.total = 1
	if f := p.facts(); !f.Known || f.Features != 0 {
		t.Errorf("fewer rows than features: %+v, want no number of features", f)
	}
	p.total = 2
	if f := p.facts(); !f.Known || f.Features != 2 || f.Grid != method.AllGrid {
		t.Errorf("as many rows as features: %+v, want 2 features on a grid", f)
	}
}

// One timer waits for others' work, all others last one round.
func TestPatientTimers(t *testing.T) {
	j := parse(t, "minmax", "{fraction: 0.25}")
	plan, err := Protocol().Plan(methodtest.Instance(j))
	if err != nil {
		t.Fatal(err)
	}
	var longer []string
	for _, st := range plan {
		for _, timer := range []protocol.Timer{okra.TimerReceipt, okra.TimerRows} {
			if st.Session != nil && st.Session.Timeout(timer, j.Timeout.Round) != j.Timeout.Round {
				longer = append(longer, st.Name+" "+string(timer))
			}
		}
	}
	if !slices.Equal(longer, []string{"protocol okra/receipt"}) {
		t.Errorf("%v last longer than a round", longer)
	}
}

// A job's rows are encoded by the encoder, and sent by the wire, that its file names.
func TestJobsHaveTheirEncoder(t *testing.T) {
	for protocol, want := range map[string]okra.Spec{
		"okra":                              {Encoder: okra.Hadamard, Wire: okra.Float32, Mode: okra.Hardened, Rounds: 3},
		"okra, rounds: 5":                   {Encoder: okra.Hadamard, Wire: okra.Float32, Mode: okra.Hardened, Rounds: 5},
		"okra, encoder: haar":               {Encoder: okra.Haar, Wire: okra.Float32, Mode: okra.Hardened},
		"okra, encoder: hbh, wire: float64": {Encoder: okra.HBH, Wire: okra.Float64, Mode: okra.Hardened},
		"okra, mode: paper":                 {Encoder: okra.Block, Wire: okra.Float32, Mode: okra.Paper, BlockWidth: 96},
	} {
		p, err := paramsOf(read(t, strings.Replace(fmt.Sprintf(jobFile, "none", "{every: 3}"), "{name: okra}", "{name: "+protocol+"}", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Spec(); got != want {
			t.Errorf("%s: %+v, want %+v", protocol, got, want)
		}
	}
}

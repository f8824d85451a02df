package stage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	nothing "github.com/mercer-fl/mercer/internal/method/pooled"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
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

func cast() Cast { return Cast{Coordinator: "hub", Parties: []string{"north", "south"}} }

func TestPlan(t *testing.T) {
	leader := protocol.Member{Name: "north", Role: protocol.RoleLeader}
	south := protocol.Member{Name: "south", Role: protocol.RoleParty}
	server := protocol.Member{Name: "hub", Role: protocol.RoleServer}
	for scale, want := range map[string][]string{
		"none":     {"heading", "protocol", "learn", "evaluate"},
		"minmax":   {"heading", "scale", "protocol", "learn", "evaluate"},
		"standard": {"heading", "scale", "protocol", "learn", "evaluate"},
	} {
		plan, err := Plan(parse(t, scale, "{fraction: 0.25}"), cast())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, st := range plan {
			names = append(names, st.Name)
			if (st.Session == nil) == (st.Compute == nil) {
				t.Errorf("stage %s has session and computation, or neither", st.Name)
			}
			members := []protocol.Member{server, leader, south}
			if st.Name == "heading" || st.Name == "scale" { // the coordinator takes no part in them
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
	p, crowd := afterFirst(t)
	pairs := Proposal{Sums: []int64{12, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17}}
	second, err := crowd[1].Session.After(p.Known(), pairs.encode())
	if err != nil {
		t.Fatal(err)
	}
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
	all := slices.Concat(planned(parse(t, "minmax", "{fraction: 0.25}")), planned(momentsJob(t, "minmax")), planned(phases), asked,
		planned(gramJob(t, []string{"guest", "host"}, "none", "svc")), crowd, []Stage{{Name: "pairs", Session: second}})
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
	want := map[string]int{"protocol okra/receipt": 1, "protocol fdskl/request": 2, "popularity secagg/server": 1, "pairs secagg/server": 1}
	if d := cmp.Diff(want, longer); d != "" {
		t.Error(d)
	}
}

// A descriptor is a function of job id, stage, attempt, roster and salt, and
// differs in each.
func TestDescriptorNonce(t *testing.T) {
	plan, err := Plan(parse(t, "minmax", "{fraction: 0.25}"), cast())
	if err != nil {
		t.Fatal(err)
	}
	s := plan[0].Session
	salted := *s
	salted.Salt = []byte{1}
	id := func(d protocol.Descriptor) string { return string(d.Encode()) }
	base := id(s.Descriptor(job.ID{1}, 0, [32]byte{}, 0))
	if again := id(s.Descriptor(job.ID{1}, 0, [32]byte{}, 0)); again != base {
		t.Error("the same stage has two descriptors")
	}
	for name, other := range map[string]protocol.Descriptor{
		"job": s.Descriptor(job.ID{2}, 0, [32]byte{}, 0), "stage": s.Descriptor(job.ID{1}, 1, [32]byte{}, 0),
		"roster": s.Descriptor(job.ID{1}, 0, [32]byte{1}, 0), "attempt": s.Descriptor(job.ID{1}, 0, [32]byte{}, 1),
		"salt": salted.Descriptor(job.ID{1}, 0, [32]byte{}, 0),
	} {
		if id(other) == base {
			t.Errorf("another %s has the same descriptor", name)
		}
	}
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

func TestSplitTable(t *testing.T) {
	count := func(test []bool) (rows []int) {
		for i, held := range test {
			if held {
				rows = append(rows, i)
			}
		}
		return rows
	}
	s, err := SplitTable(parse(t, "none", "{every: 3}"), Table{Set: set(9)})
	if err != nil || cmp.Diff([]int{2, 5, 8}, count(s.Test)) != "" {
		t.Errorf("every 3: %v, %v", count(s.Test), err)
	}
	s, err = SplitTable(parse(t, "none", "{source: other}"), Table{Set: set(4), HeldOut: set(3)})
	if err != nil || cmp.Diff([]int{4, 5, 6}, count(s.Test)) != "" || s.Set.X.Rows() != 7 {
		t.Errorf("a source of its own: %v, %v", count(s.Test), err)
	}
	half := Table{Set: set(40), Key: dataset.SplitKey{1}}
	s, err = SplitTable(parse(t, "none", "{fraction: 0.5}"), half)
	held := count(s.Test)
	if err != nil || len(held) < 10 || len(held) > 30 {
		t.Fatalf("half of 40 rows: %v, %v", held, err)
	}
}

// Which rows a job holds out is what the party's key says: another seed, learner or
// label asks for the same ones.
func TestHeldOutWhateverTheJobSays(t *testing.T) {
	table := Table{Set: set(40), Key: dataset.SplitKey{1}}
	j := parse(t, "none", "{fraction: 0.25}")
	want, err := SplitTable(j, table)
	if err != nil {
		t.Fatal(err)
	}
	other := parse(t, "minmax", "{fraction: 0.25}")
	other.Seed, other.Data.Label, other.Learner = 77, job.NoLabel, job.Learner{Name: job.KMeans}
	if err := reader().Validate(other); err != nil {
		t.Fatal(err)
	}
	if got, err := SplitTable(other, table); err != nil || !slices.Equal(got.Test, want.Test) {
		t.Errorf("another job holds out %v, %v; the first one %v", got.Test, err, want.Test)
	}
	table.Key = dataset.SplitKey{2}
	if got, err := SplitTable(j, table); err != nil || slices.Equal(got.Test, want.Test) {
		t.Errorf("another party holds out the same: %v", err)
	}
}

func TestSplitTableRefuses(t *testing.T) {
	unlabelled := set(4)
	unlabelled.Labels = nil
	wide := &dataset.Set{Name: "wide.csv", X: dataset.NewDense(linalg.New[float64](2, 3)), Labels: []string{"a", "b"}}
	for _, tt := range []struct {
		name, test string
		table      Table
		want       string
	}{
		{"no rows", "{every: 3}", Table{Set: set(0)}, "small.csv has no rows"},
		{"no labels", "{every: 3}", Table{Set: unlabelled}, `has no column "label" to take the labels from`},
		{"no key", "{fraction: 0.25}", Table{Set: set(40)}, "there is none"},
		{"held-out rows of another width", "{source: other}", Table{Set: set(4), HeldOut: wide}, "3"},
	} {
		if _, err := SplitTable(parse(t, "none", tt.test), tt.table); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A party tells the number of features only where the Gram matrix does.
func TestFacts(t *testing.T) {
	p, err := NewParty(parse(t, "none", "{every: 3}"), "north", Table{Set: set(9)})
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Facts(); f != (method.Facts{}) {
		t.Errorf("before the upload: %+v, want nothing", f)
	}
	p.total = 1
	if f := p.Facts(); !f.Known || f.Features != 0 {
		t.Errorf("fewer rows than features: %+v, want no number of features", f)
	}
	p.total = 2
	if f := p.Facts(); !f.Known || f.Features != 2 || f.Grid != method.AllGrid {
		t.Errorf("as many rows as features: %+v, want 2 features on a grid", f)
	}
	if f := (*Party)(nil).Facts(); f.Known {
		t.Errorf("nobody: %+v", f)
	}
}

// Words among labels that are to be numbers are refused, and labels that nobody
// asked for are left out.
func TestSplitTableOfOtherLearners(t *testing.T) {
	numbers, words := set(20), set(20)
	for i := range numbers.Labels {
		numbers.Labels[i] = strconv.Itoa(i)
	}
	j := parse(t, "none", "{fraction: 0.25}")
	j.Learner = job.Learner{Name: job.Ridge}
	if err := reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	key := dataset.SplitKey{1}
	s, err := SplitTable(j, Table{Set: numbers, Key: key})
	if err != nil || len(s.Set.Labels) != 20 || !slices.Contains(s.Test, true) {
		t.Fatalf("%v, %v", s, err)
	}
	if _, err := SplitTable(j, Table{Set: words, Key: key}); err == nil || !strings.Contains(err.Error(), `small.csv: dataset: label "a" of row 1 is not a number`) {
		t.Errorf("words for numbers: %v", err)
	}
	j.Learner, j.Data.Label = job.Learner{Name: job.KMeans}, job.NoLabel
	if err := reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	if s, err := SplitTable(j, Table{Set: words, Key: key}); err != nil || s.Set.Labels != nil || words.Labels == nil {
		t.Errorf("labels %v, %v; want none, and the table as it was", s.Set.Labels, err)
	}
}

package secvm

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local/dropout"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// enrolledJob has weights in so small a ball that every record lies inside the margin.
const enrolledJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: enrolled}
spec:
  data: {source: rows, label: label, partition: {by: devices}, test: {fraction: 0.25}}
  protocol: {name: secvm, classes: [no, yes], bins: 12, packages: 6, cohort: 4, aggregation: secagg, dropped: 0.1}
  kernel: {name: linear}
  learner: {name: linear-svm, lambda: 100, iterations: 2}
`

// enrolled is a federation of devices as its server and its devices run it, without a network.
type enrolled struct {
	t       *testing.T
	c       method.Instance
	plan    []method.Step
	steps   []step
	server  *Server
	parties []*Party
	keys    map[string]ed25519.PrivateKey
	ledgers map[string]*memory.Ledger
}

// newEnrolled gives everybody a record of three features of eight.
func newEnrolled(t *testing.T, people int) *enrolled {
	t.Helper()
	e := &enrolled{t: t, c: method.Instance{Job: read(t, enrolledJob), ID: job.ID{1}, Coordinator: "server", Limits: method.Limits{Cohort: 4}}, keys: map[string]ed25519.PrivateKey{}, ledgers: map[string]*memory.Ledger{}}
	for i := range people {
		name := fmt.Sprintf("device-%d", i+1)
		seed := sha256.Sum256([]byte(name))
		e.c.Parties, e.keys[name], e.ledgers[name] = append(e.c.Parties, name), ed25519.NewKeyFromSeed(seed[:]), new(memory.Ledger)
	}
	var err error
	if e.plan, err = itself.Plan(e.c); err == nil {
		e.steps, err = steps(e.c)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range e.c.Parties {
		p, err := newParty(e.c, name, table(name, []string{"no", "yes"}[i%2], i%8, (i+1)%8, (i/8+3)%8))
		if err == nil {
			err = p.Draw(func(label string) [32]byte { return sha256.Sum256([]byte(name + label)) })
		}
		if err != nil {
			t.Fatal(err)
		}
		e.parties = append(e.parties, p)
	}
	if e.server, err = newServer(e.c); err != nil {
		t.Fatal(err)
	}
	return e
}

// table is a person's record, with features in some columns.
func table(name, label string, columns ...int) method.Table {
	x := linalg.New[float64](1, 8)
	for _, c := range columns {
		x.Row(0)[c] = 1
	}
	return method.Table{Set: &dataset.Set{Name: name, X: dataset.NewDense(x), Labels: []string{label}}}
}

func (e *enrolled) key(name string) ed25519.PublicKey {
	return e.keys[name].Public().(ed25519.PublicKey)
}

// setup returns a member's inputs of a session.
func (e *enrolled) setup(opened *protocol.Session, name string, announced []byte) method.Setup {
	return method.Setup{
		Setup:     protocol.Setup{Session: opened, Self: name, Seed: sha256.Sum256([]byte(opened.ID().Hex() + name))},
		Announced: announced, Key: e.key, Sign: func(m []byte) []byte { return ed25519.Sign(e.keys[name], m) },
	}
}

// window runs one window, from which some vanish, and returns the sum that the server sees.
func (e *enrolled) window(i int, leavers map[string]string) *secvm.Sum {
	e.t.Helper()
	announced, err := e.steps[i].Announce(e.server)
	if err != nil {
		e.t.Fatal(err)
	}
	next, err := e.plan[i].Session.After(nil, announced)
	if err != nil {
		e.t.Fatal(err)
	}
	opened, err := protocol.NewSession(next.Descriptor(e.c.ID, i, [32]byte{}, 1))
	if err != nil {
		e.t.Fatal(err)
	}
	server, err := e.steps[i].Server(e.server, e.setup(opened, "server", announced))
	if err != nil {
		e.t.Fatal(err)
	}
	var seats []dropout.Client
	for k, name := range e.c.Parties {
		run, err := e.steps[i].Party(e.parties[k], e.setup(opened, name, announced))
		if err != nil {
			e.t.Fatal(err)
		}
		seats = append(seats, dropout.Client{Name: name, Machine: run.Machine, InputHash: run.InputHash, Ledger: e.ledgers[name], LeavesBefore: leavers[name]})
	}
	if _, err := dropout.Run(e.t.Context(), dropout.Config{Session: opened, Server: server.Machine, Clients: seats}); err != nil {
		e.t.Fatal(err)
	}
	if err := server.Finish(); err != nil {
		e.t.Fatal(err)
	}
	return e.server.last
}

// Attack: differencing among real devices (Mercer's rule 25). It succeeds: the weights of two
// windows leave everybody inside the margin, one device drops out of the second, and the difference
// of the sums is the record, the label and the role of that device.
func TestAttackDifferenceOfDeployedWindows(t *testing.T) {
	e := newEnrolled(t, 20)
	all := e.window(0, nil)
	e.server.ended(method.End{})
	victim := slices.IndexFunc(e.parties, func(p *Party) bool {
		s, err := p.device.Summand(weightsOf(t, p.Params, 0))
		return err == nil && !slices.Equal(entries(s, 13), make([]int64, 13))
	})
	less := e.window(1, map[string]string{e.c.Parties[victim]: "MaskedInput"})
	summand, err := e.parties[victim].device.Summand(weightsOf(t, e.server.Params, 0))
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]int64, 13), entries(summand, 13)
	for j := range got {
		got[j] = all.Blocks[0][j] - less.Blocks[0][j]
	}
	if !slices.Equal(got, want) || all.Count()-less.Count() != 1 {
		t.Errorf("the difference is %v, the victim's record %v", got, want)
	}
}

func entries(s secvm.Summand, n int) []int64 {
	list := make([]int64, n)
	s.Read(0, 0, list)
	return list
}

// weightsOf returns weights that are alike for all features.
func weightsOf(t testing.TB, p secvm.Params, w float64) secvm.Weights {
	t.Helper()
	checked, err := p.Weights(slices.Repeat([]float64{w}, p.Features()))
	if err != nil {
		t.Fatal(err)
	}
	return checked
}

// A device blames the server for weights that the job does not allow, before it has a machine
// for them, and derives another session from other weights.
func TestAnnouncedWeightsThatAreRefused(t *testing.T) {
	e := newEnrolled(t, 20)
	good := secvm.EncodeWeights(make([]float64, 13))
	beyond := make([]float64, 13)
	beyond[3] = .2 // the ball's radius is .1
	for name, announced := range map[string][]byte{
		"none": nil, "too few": good[8:], "too many": append(good[:len(good):len(good)], good[:8]...), "beyond the ball": secvm.EncodeWeights(beyond),
	} {
		_, err := e.plan[0].Session.After(nil, announced)
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "server" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := e.parties[0].add(method.Setup{Announced: announced}); !errors.As(err, &blame) {
			t.Errorf("%s: a machine, %v", name, err)
		}
	}
	beyond[3] = .05
	ids := make(map[string]bool)
	for i, announced := range [][]byte{good, secvm.EncodeWeights(beyond)} {
		next, err := e.plan[0].Session.After(nil, announced)
		if err != nil {
			t.Fatal(err)
		}
		if len(next.Claims) != 1 || !strings.Contains(next.Claims[0], "secvm/iteration/0") {
			t.Errorf("weights %d: %+v", i, next)
		}
		opened, err := protocol.NewSession(next.Descriptor(e.c.ID, 0, [32]byte{}, 1))
		if err != nil {
			t.Fatal(err)
		}
		ids[opened.ID().Hex()] = true
	}
	if len(ids) != 2 {
		t.Error("two weights have one session")
	}
}

// Jobs of devices are those whose server needs no table, and whose devices withstand the server.
func TestJobsOfDevices(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, want string }{
		"packages":       {"aggregation: secagg, dropped: 0.1", "aggregation: packages", `add "aggregation: secagg" to protocol`},
		"no classes":     {"classes: [no, yes], ", "", "sees no labels"},
		"no bins":        {"bins: 12", "features: columns", `add "bins" to protocol`},
		"every row":      {"{fraction: 0.25}", "{every: 4}", "each device itself draws whether it tests"},
		"losses":         {"{by: devices}", "{by: devices, dropout: 0.1}", `only simulate allows "dropout"`},
		"semi-honest":    {"dropped: 0.1", "dropped: 0.1, adversary: semi-honest", `only simulate allows "adversary: semi-honest"`},
		"a large cohort": {"cohort: 4", "cohort: 21", "a sum needs at least 21"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(enrolledJob, tt.from, tt.to, 1)
			j := read(t, text)
			m, _, err := method.OfDevices(j)
			if err == nil {
				_, err = m.Plan(method.Instance{Job: j, Coordinator: "server", Parties: newEnrolled(t, 20).c.Parties})
			}
			if text == enrolledJob || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := method.Of(read(t, enrolledJob)); err == nil {
		t.Error("a coordinator takes devices")
	}
}

// A device refuses a model that asks for too much, and an invalid record, before it sends anything.
func TestPartiesThatDoNotBegin(t *testing.T) {
	good := table("me", "yes", 1)
	two := table("both", "yes", 1)
	two.Set, _ = dataset.Append(two.Set, good.Set)
	other := table("me", "maybe", 1)
	bare := table("me", "yes", 1)
	bare.Set = &dataset.Set{Name: "me", X: good.Set.X}
	for name, tt := range map[string]struct {
		from, to, want string
		table          method.Table
		floor          int
	}{
		"a small cohort":           {"", "", "this device requires at least 100", good, 0},
		"too many bins":            {"bins: 12", "bins: 65537", "at most 65536", good, 4},
		"two hashes":               {"bins: 12", "bins: 12, hashes: 2", "because an attacker can intersect the bins of several hashes", good, 4},
		"a large ball":             {"lambda: 100", "lambda: 0.00001", "with large weights a gateway can choose", good, 4},
		"ratings":                  {"", "", "the file has ratings", method.Table{Ratings: &dataset.Ratings{}}, 4},
		"two rows":                 {"", "", "has 2 rows", two, 4},
		"no label":                 {"", "", "has no labels", bare, 4},
		"another class":            {"", "", `label "maybe"; the classes are "no" and "yes"`, other, 4},
		"a column beyond the list": {"bins: 12", "features: columns, bins: 1", `feature "2" is not a column`, good, 4},
	} {
		t.Run(name, func(t *testing.T) {
			c := method.Instance{Job: read(t, strings.Replace(enrolledJob, tt.from, tt.to, 1)), Coordinator: "server", Limits: method.Limits{Cohort: tt.floor}}
			if _, err := newParty(c, "device-1", tt.table); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A column that is not 0 counts once, whatever its value.
func TestColumnsCountOnce(t *testing.T) {
	row := table("me", "yes")
	row.Set.X = dataset.NewDense(linalg.Matrix[float64]{Rows: 1, Cols: 5, Stride: 5, Data: []float64{3, 0, .5, -2, 1}})
	p, err := newParty(method.Instance{Job: read(t, enrolledJob), Coordinator: "server", Limits: method.Limits{Cohort: 4}}, "device-1", row)
	if err != nil {
		t.Fatal(err)
	}
	if want := p.Params.Vector([]string{"1", "3", "4", "5"}); !slices.Equal(p.record.Vector, want) {
		t.Errorf("the record is %v, want %v", p.record.Vector, want)
	}
}

// A job below a device's limits is refused before its data are looked at.
func TestLimitsOfDevices(t *testing.T) {
	for want, protocol := range map[string]string{
		"cohort is 4; a device requires at least 100":           "cohort: 4",
		"dropped is 0.3; this device allows at most 0.2":        "cohort: 100, dropped: 0.3",
		"corrupted is 0.01; this device requires at least 0.05": "cohort: 100, corrupted: 0.01",
		"adversary is semi-honest; this device requires active": "cohort: 100, adversary: semi-honest",
	} {
		j := read(t, strings.Replace(enrolledJob, "cohort: 4, aggregation: secagg, dropped: 0.1", "aggregation: secagg, "+protocol, 1))
		if err := method.DefaultLimits().CheckJob(j); err == nil || err.Error() != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A server that resumes from a snapshot continues without any difference.
func TestServerResumes(t *testing.T) {
	e := newEnrolled(t, 20)
	e.window(0, nil)
	e.server.ended(method.End{Stayed: e.c.Parties})
	snapshot, err := e.server.snapshot()
	if err != nil {
		t.Fatal(err)
	}
	second, err := newServer(e.c)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.restore(snapshot); err != nil {
		t.Fatal(err)
	}
	again, err := second.snapshot()
	if err != nil || !bytes.Equal(again, snapshot) || second.first != e.server.first || len(second.sums) != 1 {
		t.Errorf("%v: %s, want %s", err, again, snapshot)
	}
	a, _ := e.server.announce()
	if b, _ := second.announce(); !bytes.Equal(a, b) || bytes.Equal(a, make([]byte, len(a))) {
		t.Error("it announces other weights")
	}
	for _, bad := range []string{"", "{}", `{"training":"AAAA"}`, `{"training":1}`} {
		if err := second.restore([]byte(bad)); err == nil {
			t.Errorf("%q is a snapshot", bad)
		}
	}
}

// Too few training devices in a sum end the job, since no device adds to an iteration twice.
func TestTooFewTrainersEndAJob(t *testing.T) {
	e := newEnrolled(t, 20)
	spec := SpecOf(e.c.Job)
	spec.Cohort = 20
	p, err := secvm.NewParams(spec)
	if err != nil {
		t.Fatal(err)
	}
	e.server.Params = p
	sum := [][]int64{make([]int64, 13), {10, 0, 10, 4, 0, 0}}
	e.server.added = 20
	if err := e.server.close(sum); err == nil || !strings.Contains(err.Error(), "only 10 of 20 devices in the sum train, but a step requires 20") {
		t.Errorf("%v", err)
	}
	sum[1][0] = 9
	if err := e.server.close(sum); err == nil || !strings.Contains(err.Error(), "a device has sent a false summand") {
		t.Errorf("%v", err)
	}
}

// A party draws whether it tests, with the job's share.
func TestPartiesDrawTheirRoles(t *testing.T) {
	const parties = 1000
	for share, testers := range map[string]float64{"0.1": 100, "0.6": 600} {
		j := read(t, strings.Replace(enrolledJob, "fraction: 0.25", "fraction: "+share, 1))
		c := method.Instance{Job: j, ID: job.ID{1}, Coordinator: "server", Limits: method.Limits{Cohort: 4}}
		tests := 0.
		for i := range parties {
			p, err := newParty(c, "device", table("device", "no", i%8))
			if err == nil {
				err = p.Draw(func(label string) [32]byte { return sha256.Sum256([]byte(fmt.Sprint(i, label))) })
			}
			if err != nil {
				t.Fatal(err)
			}
			weights, err := p.Params.Weights(make([]float64, p.Params.Features()))
			if err != nil {
				t.Fatal(err)
			}
			said, err := p.device.AnswerAsPublished(0, weights)
			if err != nil {
				t.Fatal(err)
			}
			if said[0].Kind == secvm.Testing {
				tests++
			}
		}
		if math.Abs(tests-testers) > 5*math.Sqrt(testers*(1-testers/parties)) {
			t.Errorf("%v of %d parties test with a share of %s", tests, parties, share)
		}
	}
}

// The server's result has the accuracy, the tests of each class and the share of the larger class, from
// the sum of the last window alone.
func TestResultOfASum(t *testing.T) {
	e := newEnrolled(t, 20)
	e.server.added = 20
	if err := e.server.close([][]int64{make([]int64, 13), {5, 2, 8, 4, 5, 3}}); err != nil {
		t.Fatal(err)
	}
	r, err := e.server.result()
	if err != nil {
		t.Fatal(err)
	}
	f := r.Details.(*Details).SecVM
	if want := []ClassTest{{"no", 8, 4}, {"yes", 5, 3}}; !slices.Equal(f.Classes, want) || f.Majority != 8./13 || f.Trainers != 7 || f.Testers != 13 {
		t.Errorf("%+v, want the classes %v", f, want)
	}
	if got := r.Metrics["accuracy"]; got != 7./13 {
		t.Errorf("accuracy %v, want 7/13", got)
	}
}

package stage

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const momentsFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: moments}
spec:
  data: {source: digits, label: label, partition: {parties: [north, south, east]}, test: {source: other}, scale: %s}
  protocol: {name: moments, directions: 40, classes: ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]}
  kernel: {name: rbf, gamma: 0.002}
  learner: {name: ridge-classifier, alpha: [0.01, 1, 100]}
`

func momentsJob(t testing.TB, scale string) *job.Job {
	t.Helper()
	return read(t, fmt.Sprintf(momentsFile, scale))
}

// signing is a member's identity key.
func signing(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func setup(s *protocol.Session, name string) Setup {
	return Setup{
		Setup: protocol.Setup{Session: s, Self: name, Seed: sha256.Sum256([]byte("seed of " + name))},
		Sign:  func(message []byte) []byte { return ed25519.Sign(signing(name), message) },
		Key:   func(member string) ed25519.PublicKey { return signing(member).Public().(ed25519.PublicKey) },
	}
}

// federated is a job that runs over the deterministic network.
type federated struct {
	server  *Server
	parties map[string]*Party
	sent    map[string][]protocol.Message // to the server, by stage
}

// runStages runs all stages of a job between parties with these tables.
func runStages(t *testing.T, j *job.Job, tables map[string]Table) *federated {
	t.Helper()
	f, plan := federate(t, j, tables)
	for i, st := range plan {
		if st.Session != nil {
			f.session(t, st, i)
		} else if err := st.Compute(f.server, t.Context(), nil); err != nil {
			t.Fatalf("%s: %v", st.Name, err)
		}
	}
	return f
}

// federate makes everybody ready for the stages of a job.
func federate(t *testing.T, j *job.Job, tables map[string]Table) (*federated, []Stage) {
	t.Helper()
	cast := Cast{job.ID{1}, "hub", j.Parties()}
	f := &federated{NewServer(j, cast), make(map[string]*Party), make(map[string][]protocol.Message)}
	for name, table := range tables {
		p, err := NewParty(j, name, table)
		if err != nil {
			t.Fatal(err)
		}
		f.parties[name] = p
	}
	plan, err := Plan(j, cast)
	if err != nil {
		t.Fatal(err)
	}
	return f, plan
}

// session runs one stage.
func (f *federated) session(t *testing.T, st Stage, index int) {
	t.Helper()
	if err := f.try(st, index, func() {}); err != nil {
		t.Fatalf("%s: %v", st.Name, err)
	}
}

// settle returns the session as it follows from what is known.
func settle(t *testing.T, s *Session, k Known) *Session {
	t.Helper()
	settled, err := s.After(k, nil)
	if err != nil {
		t.Fatal(err)
	}
	return settled
}

// try runs one stage; everybody settles for it alone. Between the session's end and
// what members make of its result it calls ended.
func (f *federated) try(st Stage, index int, ended func()) error {
	settled, err := st.Session.After(f.server.Known(), nil)
	if err != nil {
		return err
	}
	s, err := protocol.NewSession(settled.Descriptor(job.ID{1}, index, [32]byte{}, 0))
	if err != nil {
		return err
	}
	var nodes []sim.Node
	runs := make(map[string]*Run)
	for _, m := range s.Members {
		build := func() (*Run, error) {
			if m.Name == "hub" {
				return settled.Server(f.server, setup(s, m.Name))
			}
			own, err := st.Session.After(f.parties[m.Name].Known(), nil)
			if err != nil {
				return nil, err
			}
			if !slices.Equal(own.Params, settled.Params) {
				return nil, fmt.Errorf("%s settles for other parameters than the server", m.Name)
			}
			return own.Party(f.parties[m.Name], setup(s, m.Name))
		}
		if runs[m.Name], err = build(); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		nodes = append(nodes, sim.Node{Name: m.Name, InputHash: runs[m.Name].InputHash, New: func() (protocol.Machine, error) { return runs[m.Name].Machine, nil }})
	}
	r, err := sim.Run(sim.Config{Session: s, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
		if m.Receiver == "hub" {
			f.sent[st.Name] = append(f.sent[st.Name], m)
		}
		return []protocol.Message{m}
	}})
	if err == nil {
		err = r.Err()
	}
	if err != nil {
		return err
	}
	ended()
	var errs error
	for _, m := range s.Members {
		errs = errors.Join(errs, runs[m.Name].Finish())
	}
	f.server.Ended(st.Name, Ended{Session: s.ID(), Stayed: f.server.Cast.Parties})
	return errs
}

// deal deals digits to the job's parties in an order.
func deal(t *testing.T, j *job.Job, order uint64) (map[string]Table, *dataset.Set) {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[string]Table)
	train, test := rand.New(rand.NewPCG(order, 1)).Perm(600), rand.New(rand.NewPCG(order, 2)).Perm(90)
	for i := range test {
		test[i] += 600
	}
	for i, name := range j.Parties() {
		tables[name] = Table{Set: set.Subset(train[i*200 : (i+1)*200]), HeldOut: set.Subset(test[i*30 : (i+1)*30])}
	}
	return tables, set
}

// The server gets the very sums of whole numbers over all rows, and what it
// makes of them; it gets the same whoever holds which row, and what parties
// send it is noise without the sums.
func TestMomentsServerSeesTheSumsOnly(t *testing.T) {
	j := momentsJob(t, "none")
	tables, set := deal(t, j, 1)
	f := runStages(t, j, tables)

	features, err := directions(j, f.server.moments.session, 40, set.X.Cols())
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]int, 690)
	for i := range codes {
		codes[i] = slices.Index(job.As[*momentsKeys](j.Protocol).Classes, set.Labels[i])
	}
	all := dataset.RowsOf(set.X.Subset(every(0, 600)))
	want, err := moments.Summarize(features, all, moments.Classes{Codes: codes[:600], Count: 10})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, f.server.moments.sums); d != "" {
		t.Errorf("the sums differ from those in one place: %s", d)
	}
	correct, err := moments.Correct(features, f.server.moments.taught.solution, dataset.RowsOf(set.X.Subset(every(600, 690))), codes[600:])
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(f.server.moments.figures[0]) / moments.Thousand; f.server.moments.heldOut != 90 || math.Abs(got-float64(correct)) > 0.1 {
		t.Errorf("%v of %d held-out rows are right by the sums, %d in one place", got, f.server.moments.heldOut, correct)
	}
	result := f.server.Result(method.Facts{})
	t.Logf("%v, membership %.3f", result.Metrics, f.server.moments.membership)
	if result.Training != 600 || result.HeldOut != 90 || len(result.Grid) != 3 || result.Metrics["accuracy"] < 0.4 || f.server.moments.measured != 3 {
		t.Errorf("result %+v", result)
	}

	other, _ := deal(t, j, 2)
	again := runStages(t, j, other).server.moments
	same := f.server.moments
	if cmp.Diff(same.sums, again.sums) != "" || !slices.Equal(same.body, again.body) {
		t.Error("the same rows in other hands give the server something else")
	}
	for _, stage := range []string{"sums", "errors"} {
		f.looksLikeNoise(t, stage)
	}
}

func every(lo, hi int) []int {
	var rows []int
	for i := lo; i < hi; i++ {
		rows = append(rows, i)
	}
	return rows
}

// looksLikeNoise checks that the server is sent nothing but what secure
// aggregation sends, and that half of the bits of vectors are set.
func (f *federated) looksLikeNoise(t *testing.T, stage string) {
	t.Helper()
	kinds := []string{"AdvertiseKeys", "Holders", "ShareKeys", "MaskedInput", "ConsistencyCheck", "Unmask"}
	set, total := 0, 0
	for _, m := range f.sent[stage] {
		if !slices.Contains(kinds, m.Kind) || m.Protocol != secagg.Name {
			t.Errorf("%s: the server is sent %v", stage, m.Header)
		}
		if m.Kind != "MaskedInput" {
			continue
		}
		for b := m.Body; len(b) > 0; b = b[8:] {
			for word := binary.LittleEndian.Uint64(b); word != 0; word &= word - 1 {
				set++
			}
			total += 64
		}
	}
	// Six standard deviations of a fair coin.
	if d := float64(2*set - total); total == 0 || d*d > 36*float64(total) {
		t.Errorf("%s: %d of %d bits of masked vectors are set", stage, set, total)
	}
}

// The parties scale among themselves, and all choose the same.
func TestMomentsWithScaling(t *testing.T) {
	j := momentsJob(t, "minmax")
	j.Kernel.Gamma = 0.1
	tables, _ := deal(t, j, 3)
	f := runStages(t, j, tables)
	if a := f.server.Metrics()["accuracy"]; a < 0.7 {
		t.Errorf("accuracy %v", a)
	}
	if len(f.sent["scale"]) > 0 {
		t.Error("the server hears of the scaling")
	}
}

// A server that tells each party another solution meets parties that do not
// settle for one session.
func TestMomentsOfAServerWithTwoStories(t *testing.T) {
	j := momentsJob(t, "none")
	planned := func(id job.ID) []Stage {
		plan, err := Plan(j, Cast{id, "hub", j.Parties()})
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	plan := planned(job.ID{1})
	i := slices.IndexFunc(plan, func(s Stage) bool { return s.Name == "errors" })
	told := func(first byte) Known {
		p := &Party{Job: j}
		s, err := protocol.NewSession(settle(t, plan[i-1].Session, Known{}).Descriptor(job.ID{}, i-1, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, taughtBytes(j, job.As[*momentsKeys](j.Protocol).Directions))
		body[4] = first
		if err := p.told(body, s); err != nil {
			t.Fatal(err)
		}
		return p.Known()
	}
	one, two := settle(t, plan[i].Session, told(1)), settle(t, plan[i].Session, told(2))
	if slices.Equal(one.Params, two.Params) {
		t.Error("two solutions lead to one session")
	}
	if later := settle(t, planned(job.ID{2})[i].Session, told(1)); slices.Equal(one.Params, later.Params) {
		t.Error("two jobs lead to one epoch")
	}
	if again := settle(t, planned(job.ID{1})[i].Session, told(1)); !slices.Equal(one.Params, again.Params) {
		t.Error("one solution leads to two sessions")
	}
}

func TestSolutionsThatAreRefused(t *testing.T) {
	j := momentsJob(t, "none")
	good := make([]byte, taughtBytes(j, job.As[*momentsKeys](j.Protocol).Directions))
	if _, err := decodeTaught(j, 40, good); err != nil {
		t.Fatal(err)
	}
	nan := slices.Clone(good)
	nan[10], nan[11] = 0xf8, 0x7f
	beyond := slices.Clone(good)
	beyond[0] = 3 // of three values
	two := slices.Concat(good, good[4:])
	for name, b := range map[string][]byte{"of no value": beyond, "two solutions": two, "short": good[1:], "long": append(slices.Clone(good), 0), "no number": nan, "nothing": nil} {
		if _, err := decodeTaught(j, 40, b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecodeTaught(f *testing.F) {
	j := momentsJob(f, "none")
	job.As[*momentsKeys](j.Protocol).Directions, job.As[*momentsKeys](j.Protocol).Classes = 2, []string{"a", "b"}
	f.Add(make([]byte, taughtBytes(j, job.As[*momentsKeys](j.Protocol).Directions)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		told, err := decodeTaught(j, 2, b)
		if err == nil && !slices.Equal(told.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, told.encode())
		}
	})
}

func TestMomentsOfAnUnlistedClass(t *testing.T) {
	j := momentsJob(t, "none")
	tables, _ := deal(t, j, 1)
	secret := tables["north"]
	secret.Set.Labels[3] = "rare disease"
	if _, err := NewParty(j, "north", secret); err == nil || !strings.Contains(err.Error(), `a row of class "rare disease"`) {
		t.Errorf("error %v", err)
	}
}

func TestMomentsWithoutHeldOutRows(t *testing.T) {
	s := NewServer(momentsJob(t, "none"), cast())
	if err := s.judgeSolution(t.Context(), nil); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("error %v", err)
	}
}

func TestMomentsLeakage(t *testing.T) {
	s := NewServer(momentsJob(t, "minmax"), Cast{job.ID{1}, "hub", []string{"north", "south", "east"}})
	for rows, want := range map[int]string{
		800: "There are 20.00 training rows for each feature (n/M = 800/40).",
		790: "There are only 19.75 training rows for each feature (n/M = 790/40): the fewer, the better the sums tell whether a known row is among them. Directions of at most 38 would leave 20 rows for each.",
		60:  "Directions of at most 2 would",
	} {
		s.moments.sums = &moments.Sums{Rows: rows}
		lines := s.momentsLeakage()
		if got := strings.Join(lines["server"], "\n"); !strings.Contains(got, want) {
			t.Errorf("%d rows: %s", rows, got)
		}
		if len(lines["leader"]) == 0 || !strings.Contains(strings.Join(lines["coalition"], "\n"), "No party holds rows out") {
			t.Errorf("%d rows: %v", rows, lines)
		}
	}
	s.moments.measured, s.moments.membership = 3, 0.625
	if got := strings.Join(s.momentsLeakage()["coalition"], "\n"); !strings.Contains(got, "0.625, the mean of 3 parties") {
		t.Error(got)
	}
}

package moments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/secagg"
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

// deal deals digits to the job's parties in an order.
func deal(t *testing.T, j *job.Job, order uint64) (map[string]method.Table, *dataset.Set) {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	tables := make(map[string]method.Table)
	train, test := rand.New(rand.NewPCG(order, 1)).Perm(600), rand.New(rand.NewPCG(order, 2)).Perm(90)
	for i := range test {
		test[i] += 600
	}
	for i, name := range j.Parties() {
		tables[name] = method.Table{Set: set.Subset(train[i*200 : (i+1)*200]), HeldOut: set.Subset(test[i*30 : (i+1)*30])}
	}
	return tables, set
}

// frequent leaves the pixels of which no party's training rows have a rare value.
func frequent(t *testing.T, tables ...map[string]method.Table) []int {
	t.Helper()
	rare := make(map[int]bool)
	for _, deal := range tables {
		for _, table := range deal {
			for _, c := range dataset.NearConstantColumns(table.Set.X, every(0, table.Set.X.Rows()), prepare.Least) {
				rare[c.Column] = true
			}
		}
	}
	columns := slices.DeleteFunc(every(0, 64), func(j int) bool { return rare[j] })
	for _, deal := range tables {
		for name, table := range deal {
			table.Set, table.HeldOut = table.Set.SelectColumns(columns), table.HeldOut.SelectColumns(columns)
			deal[name] = table
		}
	}
	return columns
}

// The server gets the exact sums of whole numbers over all rows, and computes its results
// from them. It gets equal sums however the rows are distributed, as long as no value becomes rare
// at a party, and the parties' messages to it are noise without the sums.
func TestMomentsServerSeesTheSumsOnly(t *testing.T) {
	j := momentsJob(t, "none")
	tables, set := deal(t, j, 1)
	other, _ := deal(t, j, 2)
	if set = set.SelectColumns(frequent(t, tables, other)); set.X.Cols() < 40 {
		t.Fatalf("%d pixels are left", set.X.Cols())
	}
	f := runSteps(t, j, tables)

	features, err := directions(j, f.Server.session, 40, set.X.Cols())
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]int, 690)
	for i := range codes {
		codes[i] = slices.Index(job.As[*Keys](j.Protocol).Classes, set.Labels[i])
	}
	all := dataset.RowsOf(set.X.Subset(every(0, 600)))
	want, err := moments.Summarize(features, all, moments.Classes{Codes: codes[:600], Count: 10})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, f.Server.sums); d != "" {
		t.Errorf("the sums differ from those in one place: %s", d)
	}
	correct, err := moments.Correct(features, f.Server.fitted.solution, dataset.RowsOf(set.X.Subset(every(600, 690))), codes[600:])
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(f.Server.figures[0]) / moments.Thousand; f.Server.heldOut != 90 || math.Abs(got-float64(correct)) > 0.1 {
		t.Errorf("%v of %d held-out rows are right by the sums, %d in one place", got, f.Server.heldOut, correct)
	}
	result := f.Result(t)
	t.Logf("%v, membership %.3f", result.Metrics, f.Server.membership)
	if result.Training != 600 || result.HeldOut != 90 || len(result.Grid) != 3 || result.Metrics["accuracy"] < 0.4 || f.Server.measured != 3 {
		t.Errorf("result %+v", result)
	}

	again := runSteps(t, j, other).Server
	same := f.Server
	if cmp.Diff(same.sums, again.sums) != "" || !slices.Equal(same.body, again.body) {
		t.Error("the same rows in other hands give the server something else")
	}
	for _, stage := range []string{"sums", "errors"} {
		f.LooksLikeNoise(t, stage)
	}
}

// The parties scale among themselves, and all choose the same scaling.
func TestMomentsWithScaling(t *testing.T) {
	j := momentsJob(t, "minmax")
	j.Kernel.Gamma = 0.1
	tables, _ := deal(t, j, 3)
	f := runSteps(t, j, tables)
	if a := f.Result(t).Metrics["accuracy"]; a < 0.7 {
		t.Errorf("accuracy %v", a)
	}
	if len(f.Sent["scale"]) > 0 {
		t.Error("the server hears of the scaling")
	}
}

// A server that sends each party another solution fails, because the parties then derive different
// sessions.
func TestMomentsOfAServerWithTwoStories(t *testing.T) {
	j := momentsJob(t, "none")
	planned := func(id job.ID) []method.Step {
		c := methodtest.Instance(j)
		c.ID = id
		plan, err := Protocol().Plan(c)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	plan := planned(job.ID{1})
	i := slices.IndexFunc(plan, func(s method.Step) bool { return s.Name == "errors" })
	told := func(first byte) public {
		p := &party{Party: &rows.Party{Instance: methodtest.Instance(j)}}
		s, err := protocol.NewSession(settle(t, plan[i-1].Session, public{}).Descriptor(job.ID{}, i-1, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		body := make([]byte, fittedBytes(j, job.As[*Keys](j.Protocol).Directions))
		body[4] = first
		if err := p.takeSolution(body, s); err != nil {
			t.Fatal(err)
		}
		return p.public()
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
	good := make([]byte, fittedBytes(j, job.As[*Keys](j.Protocol).Directions))
	if _, err := decodeFitted(j, 40, good); err != nil {
		t.Fatal(err)
	}
	nan := slices.Clone(good)
	nan[10], nan[11] = 0xf8, 0x7f
	beyond := slices.Clone(good)
	beyond[0] = 3 // of three values
	two := slices.Concat(good, good[4:])
	for name, b := range map[string][]byte{"of no value": beyond, "two solutions": two, "short": good[1:], "long": append(slices.Clone(good), 0), "no number": nan, "nothing": nil} {
		if _, err := decodeFitted(j, 40, b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecodeTaught(f *testing.F) {
	j := momentsJob(f, "none")
	job.As[*Keys](j.Protocol).Directions, job.As[*Keys](j.Protocol).Classes = 2, []string{"a", "b"}
	f.Add(make([]byte, fittedBytes(j, job.As[*Keys](j.Protocol).Directions)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		told, err := decodeFitted(j, 2, b)
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
	if _, err := Protocol().Party(methodtest.Instance(j), "north", secret); err == nil || !strings.Contains(err.Error(), `class "rare disease" is not a class of the job`) {
		t.Errorf("error %v", err)
	}
}

func TestMomentsWithoutHeldOutRows(t *testing.T) {
	s := &server{Instance: methodtest.Instance(momentsJob(t, "none"))}
	if err := s.evaluate(t.Context(), nil); fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("error %v", err)
	}
}

func TestMomentsLeakage(t *testing.T) {
	s := &server{Instance: methodtest.Instance(momentsJob(t, "minmax"))}
	for rows, want := range map[int]string{
		800: "There are 20.00 training rows for each feature (n/M = 800/40).",
		790: "There are only 19.75 training rows for each feature (n/M = 790/40): the fewer there are, the better the sums reveal whether a known row is among them. With directions of at most 38 there would be 20 rows for each.",
		60:  "With directions of at most 2 there would",
	} {
		s.sums = &moments.Sums{Rows: rows}
		lines := s.leakage()
		if got := strings.Join(lines["server"], "\n"); !strings.Contains(got, want) {
			t.Errorf("%d rows: %s", rows, got)
		}
		if len(lines["leader"]) == 0 || !strings.Contains(strings.Join(lines["coalition"], "\n"), "No party holds out rows") {
			t.Errorf("%d rows: %v", rows, lines)
		}
	}
	s.measured, s.membership = 3, 0.625
	if got := strings.Join(s.leakage()["coalition"], "\n"); !strings.Contains(got, "0.625, the mean of 3 parties") {
		t.Error(got)
	}
}

// No timer waits for others' work: all last one round.
func TestPatientTimers(t *testing.T) {
	j := momentsJob(t, "minmax")
	plan, err := Protocol().Plan(methodtest.Instance(j))
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range plan {
		for _, timer := range []protocol.Timer{secagg.TimerServer, secagg.TimerMasked, collective.TimerBroadcast} {
			if st.Session != nil && st.Session.Timeout(timer, j.Timeout.Round) != j.Timeout.Round {
				t.Errorf("%s: %s lasts longer than a round", st.Name, timer)
			}
		}
	}
}

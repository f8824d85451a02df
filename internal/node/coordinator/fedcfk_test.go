package coordinator_test

import (
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	played "github.com/mercer-fl/mercer/internal/method/fedcfk/local"
	"github.com/mercer-fl/mercer/internal/method/local"

	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/protocol"
)

// people counts the parties of a recommender in these tests: two of them may
// vanish from each sum, and the parties that must remain can learn about 13 items.
const people = 24

// films is a recommender; the parties' names are filled in.
const films = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data:
    source: ratings
    like: 3
    partition: {by: devices%s}
    test: {every: 12}
  protocol: {name: fedcfk, dropped: 0.085, items: [%s]}
  kernel: {name: tanimoto}
  learner: {name: cf-komd, recommend: 3}
  timeout: {join: 30s, round: 20s}
`

func person(i int) string { return fmt.Sprintf("person-%d", i+1) }

// filmsJob is the recommender as a federation runs it, or, without parties, as it
// is simulated.
func filmsJob(t *testing.T, parties bool, all *dataset.Ratings) *job.Job {
	t.Helper()
	return jobtest.Parse(t, filmsText(parties, all))
}

func filmsText(parties bool, all *dataset.Ratings) string {
	named := ""
	if parties {
		for i := range people {
			named += ", " + person(i)
		}
		named = ", parties: [" + named[2:] + "]"
	}
	return fmt.Sprintf(films, named, strings.Join(all.Items, ", "))
}

func allRatings() *dataset.Ratings {
	return generated.Ratings(people, 24, 12, [32]byte{3})
}

// newCinema is a testbed in which each party has one person's ratings in a text of
// their own.
func newCinema(t *testing.T) (*testbed, *job.Job, *dataset.Ratings) {
	t.Helper()
	all := allRatings()
	return cinemaOf(t, all), filmsJob(t, true, all), all
}

func cinemaOf(t *testing.T, all *dataset.Ratings) *testbed {
	t.Helper()
	var shares []partition.Share
	for i, user := range all.Users {
		var text strings.Builder
		for _, r := range all.List {
			if r.User == i {
				fmt.Fprintf(&text, "%s,%s,%g\n", user, all.Items[r.Item], r.Value)
			}
		}
		own, err := dataset.ReadRatings(strings.NewReader(text.String()), dataset.RatingsOptions{Name: person(i) + ".csv"})
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, partition.Share{Party: person(i), Table: method.Table{Ratings: own}})
	}
	return newTestbed(t, shares)
}

// simulated runs the job in one process and returns its result, with everybody's
// recommendations by name, and its kernel.
func simulated(t *testing.T, all *dataset.Ratings) (*method.Result, []byte) {
	t.Helper()
	return simulatedJob(t, filmsJob(t, false, all), all)
}

func simulatedJob(t *testing.T, j *job.Job, all *dataset.Ratings) (*method.Result, []byte) {
	t.Helper()
	dir := t.TempDir()
	r, err := played.Support().Play(t.Context(), local.Play{
		Job: j, Ratings: func(string) (*dataset.Ratings, error) { return all, nil }, Dir: dir, Seed: daemon.InsecureSeeds(1),
	})
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := os.ReadFile(filepath.Join(dir, "items.kernel"))
	if err != nil {
		t.Fatal(err)
	}
	return r, kernel
}

// model returns the model that the coordinator keeps of a job.
func (w *testbed) model(id job.ID) []byte {
	w.t.Helper()
	b, err := w.members[hub].boss.Download(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// over waits for a job's end while those who have died stay dead.
func (w *testbed) over(id job.ID) coordinator.Job {
	w.t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if j, err := w.members[hub].boss.Get(id); err != nil || j.Over() {
			if err != nil {
				w.t.Fatal(err)
			}
			return j
		}
	}
	w.t.Fatal("the job does not end")
	return coordinator.Job{}
}

// diesAt ends a life before the first operation of a kind.
func diesAt(op string) func(string) bool {
	return func(now string) bool { return now == op }
}

// figuresOf reads what results of FedCFK have.
func figuresOf(t *testing.T, r *method.Result) *fedcfk.Figures {
	t.Helper()
	d, err := method.DetailsOf[fedcfk.Details](r)
	if err != nil || d == nil {
		t.Fatalf("details %s, error %v", r.Details, err)
	}
	return d.Devices
}

// Each party has one person's list. The federation's kernel and everybody's
// recommendations equal the results of one process that holds all lists, bit for bit.
func TestRecommenderEqualsSimulation(t *testing.T) {
	t.Parallel()
	w, j, all := newCinema(t)
	done := w.mustRun(j)
	want, kernel := simulated(t, all)
	if got := w.model(done.ID); !bytes.Equal(got, kernel) {
		t.Errorf("a kernel of %d bytes, simulated %d bytes, and not the same", len(got), len(kernel))
	}
	got, expected := figuresOf(t, done.Result), figuresOf(t, want)
	for _, c := range []*fedcfk.Figures{got, expected} {
		for i := range c.Sums {
			c.Sums[i].ToServer, c.Sums[i].FromServer = 0, 0
		}
	}
	if d := cmp.Diff(expected.Sums, got.Sums); d != "" || got.Kept != expected.Kept || got.Cut != expected.Cut || got.People != people || got.Kept < 5 {
		t.Errorf("%+v, simulated %+v: %s", got, expected, d)
	}
	if d := cmp.Diff(want.Leakage, done.Result.Leakage); d != "" {
		t.Errorf("leakage: %s", d)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.recommended) != people || len(w.recommended[person(3)]) != 3 {
		t.Errorf("recommendations %v", w.recommended)
	}
	if d := cmp.Diff(expected.Recommended, w.recommended[person(0)]); d != "" {
		t.Errorf("recommended to the first: %s", d)
	}
}

// Parties that vanish, as many as the job says, keep nobody from a result. Without the
// parties that vanish before their lists are in, it is the result of the remaining
// parties alone. Time passes while everybody waits, so that no load makes anybody late.
func TestRecommenderWithoutThoseWhoVanish(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, tt := range map[string]struct {
		ops    []string // before which they die
		added  [2]int   // in the two sums
		kernel bool     // of the others alone
	}{
		"never there":       {[]string{"create"}, [2]int{23, 23}, true},
		"keys advertised":   {[]string{"send secagg/Holders"}, [2]int{23, 23}, true},
		"two at once":       {[]string{"send secagg/Holders", "send secagg/MaskedInput"}, [2]int{22, 22}, true},
		"before it unmasks": {[]string{"send secagg/Unmask"}, [2]int{24, 23}, false},
		"between the sums":  {[]string{"put report"}, [2]int{24, 23}, false},
		"before it is told": {[]string{"ack broadcast/Tell"}, [2]int{24, 24}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, want := simulated(t, allRatings().First(people-len(tt.ops)))
			synctest.Test(t, func(t *testing.T) {
				w, j, _ := newCinema(t)
				for i, op := range tt.ops {
					w.start(person(people-1-i), diesAt(op))
				}
				w.startAll()
				done := w.over(w.submit(j))
				if done.Failure != nil {
					t.Fatalf("%+v", done.Failure)
				}
				sums := figuresOf(t, done.Result).Sums
				if got := [2]int{sums[0].Added, sums[1].Added}; got != tt.added {
					t.Errorf("%v in the sums, want %v: %+v", got, tt.added, sums)
				}
				if tt.kernel && !bytes.Equal(w.model(done.ID), want) {
					t.Error("the kernel is not that of the others alone")
				}
			})
		})
	}
}

// With one more than the job gives way to, there is an error that says who is
// missing and how many are needed.
func TestRecommenderWithTooFew(t *testing.T) { synctest.Test(t, tooFew) }

func tooFew(t *testing.T) {
	w, j, _ := newCinema(t)
	for i := range 3 {
		w.start(person(i), diesAt("send secagg/Holders"))
	}
	w.startAll()
	done := w.over(w.submit(j))
	if done.Failure == nil || done.Failure.Code != fault.CodeTimedOut || done.Failure.Blamed != person(0) ||
		!strings.Contains(done.Failure.Message, "shares of 21 clients arrived, but 22 are needed") {
		t.Fatalf("%+v", done.Failure)
	}
}

// Parties that do not come at all are named too.
func TestRecommenderWithTooFewFromTheBeginning(t *testing.T) { synctest.Test(t, tooFewCome) }

func tooFewCome(t *testing.T) {
	w, j, _ := newCinema(t)
	for _, m := range w.roster.Members {
		if !slices.Contains([]string{person(2), person(4), person(6)}, m.Name) {
			w.start(m.Name, never)
		}
	}
	done := w.over(w.submit(j))
	if done.Failure == nil || done.Failure.Code != fault.CodeTimedOut || !strings.Contains(done.Failure.Message, "did not join within 30s") {
		t.Fatalf("%+v", done.Failure)
	}
}

// A coordinator that is killed before any of its operations, and comes back, ends
// in the same kernel.
func TestRecommenderSurvivesTheCoordinator(t *testing.T) {
	t.Parallel()
	all := allRatings()
	_, kernel := simulated(t, all)
	var ops []string
	var mu sync.Mutex
	w, j, _ := newCinema(t)
	w.start(hub, func(op string) bool {
		mu.Lock()
		defer mu.Unlock()
		ops = append(ops, op)
		return false
	})
	w.mustRun(j)
	w.halt(hub)
	points := sendsOf("secagg", "broadcast")(hub, ops, make(map[string]bool))
	if len(ops) < 50 || len(points) < 6 {
		t.Fatalf("the coordinator does %d things only, and dies at %d: %q", len(ops), len(points), ops)
	}
	t.Logf("dies at %d of %d operations", len(points), len(ops))
	for _, n := range points {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			w, j, _ := newCinema(t)
			op := dieAt(w, hub, n)
			w.startAll()
			id := w.submit(j)
			done := w.wait(id)
			if done.Failure != nil {
				t.Fatalf("it died before %q: %+v", *op, done.Failure)
			}
			if added := figuresOf(t, done.Result).Sums[1].Added; added == people && !bytes.Equal(w.model(id), kernel) {
				t.Errorf("it died before %q, and the kernel is another", *op)
			} else if added < people {
				t.Errorf("it died before %q, and %d of %d parties are in the sums", *op, added, people)
			}
		})
	}
}

// Parties say no in a sentence, before they give anything.
func TestRecommenderThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*testbed)
		want   string
		code   fault.Code
	}{
		"policy":    {func(w *testbed) { w.policy.Protocols = []string{"okra"} }, `protocol "fedcfk" is not among those this party allows`, fault.CodePolicy},
		"too few":   {func(w *testbed) { w.policy.MinParties = 25 }, "the job has 24 parties, this party asks for 25 or more", fault.CodePolicy},
		"an item":   {func(w *testbed) { w.tables[person(4)].Ratings.Items[2] = "unheard of" }, "person-5 refused: its data cannot be used for this job; its own log says why", fault.CodeBadInput},
		"a table":   {func(w *testbed) { w.tables[person(4)] = method.Table{} }, "person-5 refused: its data cannot be used for this job", fault.CodeBadInput},
		"two lists": {func(w *testbed) { w.tables[person(4)] = method.Table{Ratings: allRatings()} }, "person-5 refused: its data cannot be used for this job", fault.CodeBadInput},
	} {
		t.Run(name, func(t *testing.T) {
			w, j, _ := newCinema(t)
			tt.change(w)
			done := w.run(j)
			if done.Failure == nil || done.Failure.Code != tt.code || !strings.Contains(done.Failure.Message, tt.want) {
				t.Errorf("%+v, want %s", done.Failure, tt.want)
			}
		})
	}
}

// A list goes into one sum of each kind, ever: another job is refused at once, and
// by name.
func TestRule14_SecondRecommender(t *testing.T) {
	t.Parallel()
	w, j, _ := newCinema(t)
	w.mustRun(j)
	done := w.wait(w.submit(j))
	if done.Failure == nil || done.Failure.Code != fault.CodePolicy ||
		!strings.Contains(done.Failure.Message, "refused: this party's data were already in a sum for fedcfk/popularity, and must not be in a second one") {
		t.Fatalf("%+v", done.Failure)
	}
}

// TestAttackManySessions: a coordinator begins session after session, and ends each
// before lists are sent, until it likes the holders that parties have drawn for their
// secrets. Each session that has begun counts, even one that ended well; after eight a
// party begins no more, however they end.
func TestAttackManySessions(t *testing.T) {
	t.Parallel()
	begun := func(w *testbed, count int) {
		w.startAll()
		for i := range people {
			for n := range count {
				name := fmt.Sprintf("attempt/%d/secagg/masked-input/%q/%q", n+1, "once", fedcfk.PurposePopularity)
				if err := w.members[person(i)].disk.Claim(protocol.SessionID{byte(n + 1)}, name); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	w, j, _ := newCinema(t)
	begun(w, 7)
	if done := w.wait(w.submit(j)); done.Failure != nil {
		t.Fatalf("the eighth session: %+v", done.Failure)
	}
	w, j, _ = newCinema(t)
	begun(w, 8)
	done := w.wait(w.submit(j))
	if done.Failure == nil || !strings.Contains(done.Failure.Message, "8 sessions for fedcfk/popularity have begun here before, and no more are allowed") {
		t.Fatalf("the ninth session: %+v", done.Failure)
	}
}

// A job that parties cannot run is not taken.
func TestRecommenderThatIsNotTaken(t *testing.T) {
	w, j, _ := newCinema(t)
	w.startAll()
	job.As[*fedcfk.Keys](j.Protocol).Items = nil
	if _, err := w.members[hub].boss.Submit(j, nobody); err == nil || !strings.Contains(err.Error(), `need one catalogue; add "items"`) {
		t.Error(err)
	}
}

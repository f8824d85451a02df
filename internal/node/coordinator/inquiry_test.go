package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// opened is a job whose parties keep their parts of the model.
func opened(t testing.TB, j *job.Job) *job.Job {
	t.Helper()
	open := *j
	open.Prediction = job.Open
	if err := all.Reader().Validate(&open); err != nil {
		t.Fatal(err)
	}
	return &open
}

// newcomers returns 20 rows that nobody trained on, cut by columns as the job's rows are:
// in north's order. South and east have all of them except the last of north.
func newcomers(t *testing.T, j *job.Job) (asked *dataset.Set, others map[string]method.Table) {
	t.Helper()
	all := newRows(t)
	for i := range all.X.Rows() {
		all.IDs = append(all.IDs, fmt.Sprint("new-", i))
	}
	whole := *j
	whole.Data.Partition.Coverage = 0
	shares, err := partition.Shares(&whole, func(job.Source, job.Data) (*dataset.Set, error) { return all, nil })
	if err != nil {
		t.Fatal(err)
	}
	others = make(map[string]method.Table)
	for i, s := range shares {
		if i == 0 {
			asked = s.Table.Set
			continue
		}
		order := span(0, 19)
		slices.Reverse(order)
		others[s.Party] = method.Table{Set: s.Table.Set.Subset(order)}
	}
	return asked, others
}

// trained runs a job by columns and brings newcomers.
func trained(t *testing.T, j *job.Job) (w *testbed, id job.ID, rows *dataset.Set) {
	t.Helper()
	w = newTestbed(t, tumours(t, j))
	w.random = true
	rows, w.fresh = newcomers(t, j)
	return w, w.mustRun(j).ID, rows
}

// mustAnswer asks about rows, all of which but the last are known to all.
func (w *testbed) mustAnswer(name string, id job.ID, rows *dataset.Set) *method.Prediction {
	w.t.Helper()
	a, err := w.ask(name, id, rows, newSource)
	if err != nil {
		w.t.Fatal(err)
	}
	if !slices.Equal(a.Rows, span(0, 19)) || a.Decisions.Rows != 19 || len(a.Predicted) != 19 {
		w.t.Fatalf("%d decisions and %d predictions about rows %v, want 19 about the first 19", a.Decisions.Rows, len(a.Predicted), a.Rows)
	}
	return a
}

func right(a *method.Prediction, labels []string) int {
	n := 0
	for i, row := range a.Rows {
		if a.Predicted[i] == labels[row] {
			n++
		}
	}
	return n
}

func TestQuestionAboutNewPhases(t *testing.T) {
	t.Parallel()
	j := opened(t, phases(t, "{join: 20s, round: 20s}"))
	w, id, rows := trained(t, j)
	a := w.mustAnswer("north", id, rows)
	if n := right(a, newRows(t).Labels); n < 15 {
		t.Errorf("%d of 19 new rows are predicted right; want 15 or more", n)
	}
	// Models outlive their processes, and nothing depends on how rows are ordered.
	for _, m := range w.roster.Members {
		w.halt(m.Name)
	}
	w.startAll()
	south := w.fresh["south"]
	south.Set = south.Set.Subset([]int{3, 1, 0, 2, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4})
	w.fresh["south"] = south
	if again := w.mustAnswer("north", id, rows); !slices.Equal(again.Decisions.Data, a.Decisions.Data) {
		t.Error("the same rows have other decisions when they are asked about again")
	}
	for range 2 { // one row alone, and the very same again
		one, err := w.ask("north", id, rows.Subset([]int{2}), newSource)
		if err != nil || len(one.Predicted) != 1 || math.Abs(one.Decisions.Data[0]-a.Decisions.Data[2]) > 1e-12 {
			t.Fatalf("one row: %+v, %v", one, err)
		}
	}
	w.nothingOpen()
}

// The answer about a person whom the training held out, and who comes again under another id, is the
// decision that the training had: it needs the columns, the scaling and the directions of all workers.
func TestQuestionHasTheDecisionsOfTheTraining(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		settings string
		kernel   job.Kernel
	}{
		{"directions: 64", job.Kernel{Name: job.RBF, Gamma: 0.5}},
		{"directions: 64, bits: 32", job.Kernel{Name: job.RBF, Gamma: 0.5, GammaUnit: job.Median}},
		{"directions: 64, training: faithful, bits: 8", job.Kernel{Name: job.Laplacian, Gamma: 0.2}},
		{"directions: 64, training: block, tree: chain", job.Kernel{Name: job.LaplacianProduct, Gamma: 0.1}},
	} {
		t.Run(tt.settings, func(t *testing.T) {
			j := phasesBy(t, "{join: 20s, round: 20s}", tt.settings)
			j.Kernel = tt.kernel
			j = opened(t, j)
			shares := tumours(t, j)
			w := newTestbed(t, shares)
			w.random = true
			id := w.mustRun(j).ID
			trained := w.judged["north"].Outcome
			var rows *dataset.Set
			w.fresh = make(map[string]method.Table)
			for i, s := range shares {
				again := s.Table.Set.Subset(indicesOf(s.Table.Set.IDs, trained.Held))
				again.IDs = columnNames(len(trained.Held))
				if w.fresh[s.Party] = (method.Table{Set: again}); i == 0 {
					rows = again
				}
			}
			a, err := w.ask("north", id, rows, newSource)
			if err != nil || len(a.Rows) != len(trained.Held) || len(a.Rows) < 5 {
				t.Fatalf("%+v, %v: want answers about %d people", a, err, len(trained.Held))
			}
			for i, row := range a.Rows {
				if got, want := a.Decisions.Row(i)[0], trained.Decisions.Row(row)[0]; math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("row %d has the decision %v, and had %v in the training", row, got, want)
				}
			}
		})
	}
}

// indicesOf returns the place of each of some ids in a list.
func indicesOf(list, some []string) (places []int) {
	for _, id := range some {
		places = append(places, slices.Index(list, id))
	}
	return places
}

// The other trainings' models answer as the cached training's does.
func TestQuestionAfterEachTraining(t *testing.T) {
	t.Parallel()
	for _, training := range []string{"block", "precond", "faithful"} {
		t.Run(training, func(t *testing.T) {
			w, id, rows := trained(t, opened(t, phasesBy(t, "{join: 20s, round: 20s}", "directions: 64, training: "+training)))
			a := w.mustAnswer("north", id, rows)
			if n := right(a, newRows(t).Labels); n < 13 {
				t.Errorf("%d of 19 new rows are predicted right; want 13 or more", n)
			}
			w.nothingOpen()
		})
	}
}

// Answers of a regression have the mean of the labels, which training takes off.
func TestQuestionToARegression(t *testing.T) {
	t.Parallel()
	j := phases(t, "{join: 20s, round: 20s}")
	text := strings.Replace(string(j.Encode()), "name: logistic", "name: squared", 1)
	w, id, rows := trained(t, opened(t, jobtest.Parse(t, text)))
	a := w.mustAnswer("north", id, rows)
	off, truth := 0.0, newRows(t).Labels
	for i, row := range a.Rows {
		label, err := strconv.ParseFloat(truth[row], 64)
		if err != nil {
			t.Fatal(err)
		}
		off += a.Decisions.Row(i)[0] - label
	}
	if off /= float64(len(a.Rows)); math.Abs(off) > 0.2 {
		t.Errorf("the answers are off by %v in the mean", off)
	}
	w.nothingOpen()
}

// A coordinator that dies after the session that names the model, of which it is no
// member, knows that name when it comes back.
func TestModelOfACoordinatorThatDied(t *testing.T) {
	t.Parallel()
	for _, j := range []*job.Job{phases(t, "{join: 20s, round: 20s}"), columns(t)} {
		t.Run(j.Protocol.Name(), func(t *testing.T) {
			j := opened(t, j)
			w := newTestbed(t, tumours(t, j))
			w.random = true
			rows, fresh := newcomers(t, j)
			w.fresh = fresh
			w.start(hub, onThe(4, "put report")) // the report of the session after it
			died := w.members[hub].life
			id := w.mustRun(j).ID
			if !died.dead() {
				t.Fatal("the coordinator has not died")
			}
			w.mustAnswer("north", id, rows)
			w.nothingOpen()
		})
	}
}

func TestInquiriesThatAreRefused(t *testing.T) {
	t.Parallel()
	j := opened(t, phases(t, "{join: 5s, round: 20s}"))
	w, id, rows := trained(t, j)
	nameless := *rows
	nameless.IDs = nil
	strange := *rows
	strange.IDs = columnNames(20)
	for _, tt := range []struct {
		name, party string
		rows        *dataset.Set
		source      string
		code        fault.Code
		want        string
	}{
		{"passive worker", "south", w.fresh["south"].Set, newSource, fault.CodeBadInput, "only north, which has the labels and the model's coefficients, can predict new rows of this job"},
		{"no ids", "north", &nameless, newSource, fault.CodeBadInput, "has no ids"},
		{"fewer columns", "north", rows.SelectColumns(span(0, 9)), newSource, fault.CodeBadInput, "has 9 features; the model was trained on 10"},
		{"unknown rows", "north", &strange, newSource, fault.CodeBadInput, "no id is common to north"},
		{"table of the job", "north", rows, "", fault.CodeBadInput, "no id is common to north"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := w.ask(tt.party, id, tt.rows, tt.source)
			if a != nil || fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("answer %v, error %v with code %d; want %q with code %d", a, err, fault.CodeOf(err), tt.want, tt.code)
			}
		})
	}
	w.halt("east")
	if a, err := w.ask("north", id, rows, newSource); a != nil || err == nil || !strings.Contains(err.Error(), "east") || !strings.Contains(err.Error(), "ask again") {
		t.Errorf("without east: answer %v, error %v", a, err)
	}
	w.start("east", never)
	w.mustAnswer("north", id, rows)
	if _, err := w.members["south"].party.Forget(id); err != nil {
		t.Fatal(err)
	}
	a, err := w.ask("north", id, rows, newSource)
	if a != nil || fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "south has no part of the model") {
		t.Errorf("after south forgot: answer %v, error %v", a, err)
	}
	w.nothingOpen()
}

// A question in several sessions dies with any of its processes; the next one is
// answered, and no session is left behind.
func TestAnInquiryCutShort(t *testing.T) {
	t.Parallel()
	byPhases, byProducts := phases(t, "{join: 20s, round: 20s}"), columns(t)
	for _, tt := range []struct {
		name string
		job  *job.Job
		ops  []string
	}{
		{hub, byPhases, []string{"create", "send control/Proposal", "send control/Directory", "put report", "send control/Closing", "destroy", "ack control/Question"}},
		{"north", byPhases, []string{"create", "send psi/Confirm", "send fdskl/Request", "send control/Report", "destroy", "send control/Closed"}},
		{"south", byPhases, []string{"create", "send control/Acceptance", "send declare/Declare", "send fdskl/Phases", "destroy"}},
		{"east", byProducts, []string{"send secagg/MaskedInput"}},
		{hub, byProducts, []string{"send broadcast/Tell"}},
	} {
		t.Run(tt.name+"/"+tt.job.Protocol.Name(), func(t *testing.T) {
			w, id, rows := trained(t, opened(t, tt.job))
			for _, op := range tt.ops {
				w.halt(tt.name)
				w.start(tt.name, onThe(1, op))
				died := w.members[tt.name].life
				for asked := 0; asked < 3 && !died.dead(); asked++ {
					_, err := w.askOn(id, rows, newSource)
					t.Logf("dying of %q, a question ended in: %v", op, err)
				}
				if _, err := w.askOn(id, rows, newSource); err != nil || !died.dead() {
					t.Errorf("after %q, dead %v: %v", op, died.dead(), err)
				}
			}
			w.nothingOpen()
		})
	}
}

// A question that nobody waits for any more leaves nothing at anybody's.
func TestAWithdrawnInquiry(t *testing.T) {
	t.Parallel()
	j := opened(t, phases(t, "{join: 20s, round: 20s}"))
	w, id, rows := trained(t, j)
	w.halt("east")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := w.members["north"].party.Predict(ctx, id, rows, newSource); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that of the context", err)
	}
	w.start("east", never)
	w.mustAnswer("north", id, rows)
	w.nothingOpen()
}

// A holder of columns asks about rows that all know, and learns the prediction of the
// coordinator's model; once one party's part of the model is gone nobody learns it.
func TestQuestionAboutNewProducts(t *testing.T) {
	t.Parallel()
	j := opened(t, columns(t))
	w, id, rows := trained(t, j)
	a := w.mustAnswer("north", id, rows)
	w.wantPooled(a, id)
	w.halt(hub)
	w.start(hub, never)
	w.fresh["north"] = method.Table{Set: rows}
	b, err := w.ask("south", id, w.fresh["south"].Set, newSource)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range b.Rows { // the other way round, and all of them
		if d := math.Abs(b.Decisions.Row(i)[0] - a.Decisions.Row(18 - row)[0]); d > 1e-12 {
			t.Fatalf("row %d has the decision %v, and %v when north asks", row, b.Decisions.Row(i)[0], a.Decisions.Row(18 - row)[0])
		}
	}
	if _, err := w.members["east"].party.Forget(id); err != nil {
		t.Fatal(err)
	}
	if a, err := w.ask("north", id, rows, newSource); a != nil || err == nil || !strings.Contains(err.Error(), "east has no part of the model") {
		t.Errorf("after east forgot: answer %v, error %v", a, err)
	}
	w.nothingOpen()
}

// Deviations, scores and distances come with the decisions.
func TestQuestionsOfOtherLearners(t *testing.T) {
	t.Parallel()
	for _, learner := range []string{"{name: gp, noise: 0.1}", "{name: kpca, n_components: 3}"} {
		text := strings.NewReplacer("{name: okra}", "{name: gram}", "partition: {parties", "partition: {by: columns, parties",
			"{name: svc, C: 10, tol: 1.0e-8}", learner).Replace(fmt.Sprintf(jobFile, openJob))
		j := jobtest.Parse(t, text)
		w, id, rows := trained(t, j)
		a, err := w.ask("north", id, rows, newSource)
		if err != nil {
			t.Fatal(err)
		}
		w.wantPooled(a, id)
	}
}

// wantPooled checks decisions about newcomers.
func (w *testbed) wantPooled(a *method.Prediction, id job.ID) {
	w.t.Helper()
	want := pooledDecisions(w.t, w, id)
	if a.Decisions.Rows != want.Rows || a.Decisions.Cols != want.Cols {
		w.t.Fatalf("%d x %d decisions, want %d x %d", a.Decisions.Rows, a.Decisions.Cols, want.Rows, want.Cols)
	}
	for i := range want.Rows {
		for k, v := range want.Row(i) {
			if got := a.Decisions.Row(i)[k]; math.Abs(got-v) > 1e-5 {
				w.t.Fatalf("output %d of new row %d is %v, and %v with all columns in one place", k, i, got, v)
			}
		}
	}
}

// pooledDecisions returns the decisions about newcomers that the job's learner takes when
// the job's rows have all columns in one place.
func pooledDecisions(t *testing.T, w *testbed, id job.ID) linalg.Matrix[float64] {
	t.Helper()
	done, err := w.members[hub].boss.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	var rows []int // training rows, and then the new ones
	for _, name := range w.aligned("north")[:done.Result.Training] {
		n, err := strconv.Atoi(name)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, n-1)
	}
	set := all.Subset(append(rows, span(60, 79)...))
	train := span(0, done.Result.Training)
	scaling, err := scale.Pooled(linalg.Pick(dataset.RowsOf(set.X), train), scale.Method(done.Spec.Data.Scale))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := learner.SpecOf(done.Spec)
	if err != nil {
		t.Fatal(err)
	}
	task := learner.Problem{Gram: kernel.LinearGram(scaling.Rows(dataset.RowsOf(set.X))), Labels: set.Labels, Test: make([]bool, len(set.Labels))}
	for i := done.Result.Training; i < len(task.Test); i++ {
		task.Test[i] = true
	}
	f, err := learner.Fit(t.Context(), task, spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f.Decisions
}

// The retained state of a model is sealed; once the coordinator's operator has had it erased
// everywhere, none of it is on any disk.
func TestForgettingEverywhere(t *testing.T) {
	t.Parallel()
	j := opened(t, phases(t, "{join: 5s, round: 20s}"))
	w, id, rows := trained(t, j)
	var secrets []needle
	for _, name := range []string{"north", "south", "east"} {
		part, err := w.artifacts(name).Get(id, vault.Predictor)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := os.ReadFile(filepath.Join(w.home(name), "keepsakes", id.String(), "predictor"))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at+32 <= len(part); at += 64 {
			secrets = append(secrets, needle{name + "'s model part", part[at : at+32]})
		}
		secrets = append(secrets, needle{"sealed model part", sealed[64:96]})
	}
	sealed := 0
	for _, hit := range w.found(secrets) {
		switch {
		case strings.HasPrefix(hit, "sealed model part"):
			sealed++
		case !strings.HasSuffix(hit, "job.yaml"): // which a model part holds, too
			t.Errorf("in clear: %s", hit)
		}
	}
	if sealed != 3 {
		t.Errorf("the scan finds %d sealed model parts, want 3", sealed)
	}
	w.halt("east")
	f, err := w.members[hub].boss.Forget(t.Context(), id)
	if err != nil || !slices.Equal(f.Silent, []string{"east"}) || !slices.Equal(f.Here, []string{"answers", "decisions"}) {
		t.Errorf("%+v, %v; want no word from east", f, err)
	}
	for _, name := range []string{"north", "south"} {
		if got := f.Parties[name]; !slices.Contains(got, "predictor") || !slices.Contains(got, "alignment") {
			t.Errorf("%s says that it has erased %v", name, got)
		}
	}
	w.start("east", never) // whom the broker tells
	if f, err = w.members[hub].boss.Forget(t.Context(), id); err != nil || f.Silent != nil || len(f.Here) > 0 {
		t.Errorf("a second time: %+v, %v", f, err)
	}
	for _, hit := range w.found(secrets) {
		if !strings.HasSuffix(hit, "job.yaml") {
			t.Errorf("left on disk: %s", hit)
		}
	}
	if a, err := w.ask("north", id, rows, newSource); a != nil || fault.CodeOf(err) != fault.CodeBadInput {
		t.Errorf("answer %v, error %v", a, err)
	}
}

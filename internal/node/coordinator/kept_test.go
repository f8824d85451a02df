package coordinator_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// grownSchema is fitted: a median, a mean, and the categories of one column.
const grownSchema = "age: {range: [0, 120], missing: mean}, creatinine: {range: [1, 3000], missing: median, indicator: true}, smoker: {type: category, categories: agree}"

// hospitalJob is a job by ranges between some of the hospitals, with more keys of the protocol.
func hospitalJob(t testing.TB, parties, schema, keys string) *job.Job {
	t.Helper()
	before, rest, _ := strings.Cut(schemaJob, "    schema:\n")
	_, after, _ := strings.Cut(rest, "    scale: standard\n")
	text := before + "    schema: {" + schema + "}\n    scale: range\n" + after
	return jobtest.Parse(t, strings.NewReplacer("[north, south, east]", parties, "{name: okra}", "{name: okra, wire: float64"+keys+"}",
		"C: 1}", "C: 1, tol: 1.0e-10}").Replace(text))
}

const allHospitals = "[north, south, east]"

// frozen is the schema that states what north and south fit, so that nothing is fitted any more.
func frozen(t *testing.T, shares []partition.Share) string {
	t.Helper()
	splits, err := partition.Splits(hospitalJob(t, "[north, south]", grownSchema, ""), shares[:2])
	if err != nil {
		t.Fatal(err)
	}
	made := splits[0].Prepared
	names := made.Names()
	fill := func(column string) string {
		values := make(map[float64]int)
		at, row := slices.Index(names, column), make([]float64, len(names))
		for _, s := range splits {
			for i := range s.Set.X.Rows() {
				s.Set.X.Row(i, row)
				if missing := slices.Index(names, column+"_missing"); missing < 0 || row[missing] == 1 {
					values[row[at]]++
				}
			}
		}
		if len(values) != 1 {
			t.Fatalf("gaps of %s are filled with %v", column, values)
		}
		for v := range values {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
		return ""
	}
	var words []string
	for _, name := range names {
		if word, is := strings.CutPrefix(name, "smoker_"); is && word != "other" {
			words = append(words, strconv.Quote(word))
		}
	}
	return fmt.Sprintf("age: {range: [0, 120], missing: 50}, creatinine: {range: [1, 3000], missing: %s, indicator: true}, smoker: {type: category, categories: [%s], unknown: other}",
		fill("creatinine"), strings.Join(words, ", "))
}

// decisions returns the decisions of a job that ended well.
func (w *testbed) decisions(id job.ID) []float64 {
	w.t.Helper()
	o, err := w.members[hub].boss.Outcome(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Decisions.Data
}

// oldPreparation are the decisions of a job that has all rows from the beginning, and states the
// preparation that north and south fitted.
func oldPreparation(t *testing.T, parties, schema string) []float64 {
	t.Helper()
	j := hospitalJob(t, parties, schema, "")
	w := newTestbed(t, hospitals(t, hospitalJob(t, allHospitals, schema, "")))
	return w.decisions(w.mustRun(j).ID)
}

func sameDecisions(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%s: %d decisions, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Abs(got[i]-want[i]) > 1e-6 {
			t.Errorf("%s: decision %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// A hospital joins a job whose preparation is fitted, and later the
// leader leaves: only new rows travel, and each model is the one of the old preparation. The
// coordinator stores no agreed category and none of the newcomer's words.
func TestJobsKeepThePreparation(t *testing.T) {
	t.Parallel()
	j := hospitalJob(t, allHospitals, grownSchema, "")
	shares := hospitals(t, j)
	schema := frozen(t, shares)
	secret := slices.DeleteFunc(fittedNeedles(t, jobtest.Parse(t, schemaJob), hospitals(t, jobtest.Parse(t, schemaJob))), func(n needle) bool { return !strings.HasPrefix(n.name, "word ") })
	w := newTestbed(t, shares)
	w.policy.Continuation = true
	first := w.mustRun(hospitalJob(t, "[north, south]", grownSchema, ", continuable: true")).ID
	var second, third job.ID
	sent := w.rowsFrom(func() {
		second = w.mustRun(hospitalJob(t, allHospitals, grownSchema, ", continuable: true, late: [east], continues: "+first.String())).ID
	})
	if sent["north"]+sent["south"] > 0 || sent["east"] == 0 {
		t.Errorf("messages with rows: %v, want east's alone", sent)
	}
	sameDecisions(t, "east comes", w.decisions(second), oldPreparation(t, allHospitals, schema))

	for name, tt := range map[string]struct{ schema, keys, want string }{
		"no choice":      {grownSchema, "", "okra: the earlier job's preparation was also fitted on the rows of north, which left; write \"preparation: keep\", or remove \"continues\" to fit a new preparation"},
		"another schema": {strings.Replace(grownSchema, "[0, 120]", "[0, 130]", 1), ", preparation: keep", "its data cannot be used for this job"},
	} {
		done := w.run(hospitalJob(t, "[south, east]", tt.schema, tt.keys+", continues: "+second.String()))
		if done.Failure == nil || done.Failure.Code != fault.CodeBadInput || !strings.Contains(done.Failure.Message, tt.want) {
			t.Errorf("%s: %+v, want %q", name, done.Failure, tt.want)
		}
	}
	var leakage map[string][]string
	sent = w.rowsFrom(func() {
		done := w.mustRun(hospitalJob(t, "[south, east]", grownSchema, ", preparation: keep, continues: "+second.String()))
		third, leakage = done.ID, done.Result.Leakage
	})
	if len(sent) > 0 {
		t.Errorf("messages with rows: %v", sent)
	}
	sameDecisions(t, "north leaves", w.decisions(third), oldPreparation(t, "[south, east]", schema))
	if text := strings.Join(leakage["party"], "\n"); !strings.Contains(text, "A trace of north stays in the preparation (means, medians") || !strings.Contains(text, "The parties fit nothing in this job") {
		t.Errorf("leakage %q", text)
	}
	for _, hit := range w.found(secret) {
		if strings.Contains(hit, " in "+w.home(hub)) {
			t.Errorf("the coordinator stores %s", hit)
		}
	}
}

// Rows that a hospital's table has got are prepared as the others were, and travel alone.
func TestAddedRowsAreKeptAsTheOthers(t *testing.T) {
	t.Parallel()
	shares := hospitals(t, hospitalJob(t, allHospitals, grownSchema, ""))
	w := newTestbed(t, shares)
	w.policy.Continuation = true
	whole := w.table("south")
	w.brings("south", rowsOf(whole, span(0, 120)))
	first := w.mustRun(hospitalJob(t, "[north, south]", grownSchema, ", continuable: true")).ID
	w.brings("south", rowsOf(whole, slices.Concat(span(120, 140), span(0, 120))))
	var next job.ID
	var result *method.Result
	sent := w.rowsFrom(func() {
		done := w.mustRun(hospitalJob(t, "[north, south]", grownSchema, ", continues: "+first.String()))
		next, result = done.ID, done.Result
	})
	if sent["north"] > 0 || sent["south"] == 0 || result.Training+result.HeldOut != 280 {
		t.Errorf("messages with rows: %v, from %d rows", sent, result.Training+result.HeldOut)
	}
	half := slices.Clone(shares)
	half[1].Table = rowsOf(half[1].Table, span(0, 120))
	schema := frozen(t, half)
	fresh := newTestbed(t, hospitals(t, hospitalJob(t, allHospitals, schema, "")))
	fresh.brings("south", rowsOf(fresh.table("south"), slices.Concat(span(0, 140))))
	want := fresh.decisions(fresh.mustRun(hospitalJob(t, "[north, south]", schema, "")).ID)
	got := w.decisions(next)
	slices.Sort(got)
	slices.Sort(want)
	sameDecisions(t, "rows are added", got, want)
}

// A job that a hospital joins dies in the middle, and ends in an identical model.
func TestCrashOfAKeptPreparation(t *testing.T) {
	t.Parallel()
	begin := func(t *testing.T) (*testbed, *job.Job) {
		w := newTestbed(t, hospitals(t, hospitalJob(t, allHospitals, grownSchema, "")))
		w.policy.Continuation = true
		first := w.mustRun(hospitalJob(t, "[north, south]", grownSchema, ", continuable: true")).ID
		return w, hospitalJob(t, allHospitals, grownSchema, ", late: [east], continues: "+first.String())
	}
	w, next := begin(t)
	want := w.mustRun(next).Result.ModelHash
	for _, d := range []death{{hub, 1, "send okra/Grant"}, {"north", 1, "send okra/Welcome"}, {"south", 1, "send okra/Consent"}, {"east", 1, "send okra/Confirm"}, {"east", 1, "send okra/Rows"}} {
		t.Run(fmt.Sprintf("%s/%s", d.name, d.op), func(t *testing.T) {
			w, next := begin(t)
			w.halt(d.name)
			died := w.dies(d)
			if done := w.run(next); done.Failure != nil || done.Result.ModelHash != want || !died.Load() {
				t.Errorf("failure %+v, model %v, undisturbed %s; died: %v", done.Failure, done.Result, want, died.Load())
			}
		})
	}
}

// A job whose parties fit anew dies in the middle of the second fit, and ends in an identical
// model.
func TestCrashOfASecondFit(t *testing.T) {
	t.Parallel()
	j := hospitalJob(t, allHospitals, grownSchema, ", late: [east], preparation: refit")
	w := newTestbed(t, hospitals(t, j))
	w.policy.Own = true // as in simulate
	done := w.mustRun(j)
	w.diesAndEndsTheSame(j, hospitals(t, j), done, []death{
		{"south", 3, "send gather/Give"}, {"north", 4, "send broadcast/Tell"}, {"east", 1, "send secagg/MaskedInput"}, {"south", 2, "send declare/Declare"}, {"east", 1, "send okra/Rows"},
	})
}

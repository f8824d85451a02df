package coordinator_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// era describes the homes that one earlier program left. All have a finished job of okra that can be asked,
// one that can be continued, a release that south's operator has not allowed, a job by moments that is under
// way, and jobs that nobody has begun. Their formats differ, and are never written anew.
type era struct {
	file    string
	columns string // the protocol of a finished job by columns; "" for none
	schema  bool   // a finished job over tables with a schema
	split   bool   // the job under way says itself which rows are held out
	dies    int32  // the session of this job at which the coordinator died
}

var eras = []era{
	// The program of 2026-11-24 10:48: releases of v2 as in the first homes, but retained states in an envelope,
	// okra's of version 2, without marks of the rows.
	{file: "testdata/homes-3.tar.gz", columns: "fdskl", dies: 6},
	// The program of 2026-11-25 20:32: releases of v3 beside v2, retained states with a preparation, okra's of version 3.
	{file: "testdata/homes-4.tar.gz", schema: true, split: true, dies: 5},
	// The program of 2026-11-26 20:08: releases of v4, which name the table and the fit.
	{file: "testdata/homes-5.tar.gz", dies: 5},
	// The program of 2026-11-27 17:06: releases of v5, with what is let out beside them; held ones of v3.
	{file: "testdata/homes-6.tar.gz", columns: "gram", schema: true, dies: 4},
}

// An upgrade opens the homes of each earlier program. Ledgers hold the same releases, finished models
// give the same predictions, and a job continues an ended one. Running jobs fail once they are given
// up. Jobs that had not begun are refused if they decide something that is the table's operator's
// decision today.
func TestGoldenEras(t *testing.T) {
	for _, e := range eras {
		t.Run(filepath.Base(e.file), func(t *testing.T) {
			t.Parallel()
			w, g := e.open(t)
			w.wantLedgers(g)
			w.program, w.abandons = "a later build", true
			w.startAll()
			w.wantOver(g)
			w.wantAnswers(g)
			w.wantHeld(g)
			w.wantContinued(g)
		})
	}
}

// open unpacks the homes of an era.
func (e era) open(t *testing.T) (*testbed, golden) {
	t.Helper()
	w := eraTestbed(t)
	g := openGolden(t, w, e.file)
	w.renewNotes(g)
	for _, m := range w.roster.Members {
		w.wantForeign(m.Name, "a later build")
		w.wantReadable(m.Name)
	}
	return w, g
}

// eraTestbed has the members of all eras, whose operators allow what those of the earlier programs did.
func eraTestbed(t *testing.T) *testbed {
	t.Helper()
	w := goldenTestbed(t)
	w.random = true
	w.policy.Continuation, w.policy.Splits = true, job.Splits()
	return w
}

// renewNotes gives the held releases today's time: a ledger forgets them after 30 days.
func (w *testbed) renewNotes(g golden) {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, "*", "releases", "*.held"))
	if err != nil || len(names) == 0 {
		w.t.Fatalf("held releases %v, %v", names, err)
	}
	then := binary.LittleEndian.AppendUint64(nil, uint64(g.Held))[2:] // up to 18 hours
	for _, name := range names {
		b, err := os.ReadFile(name)
		at := bytes.Index(b, then) - 2
		if err != nil || at < 0 {
			w.t.Fatalf("%s has another time, %v", name, err)
		}
		binary.LittleEndian.PutUint64(b[at:], uint64(time.Now().Unix()))
		if err := os.WriteFile(name, b, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}

// wantLedgers checks that each party's ledger is read and holds what it held.
func (w *testbed) wantLedgers(g golden) {
	w.t.Helper()
	if len(g.Ledgers) != 3 {
		w.t.Fatalf("%d ledgers", len(g.Ledgers))
	}
	for name, then := range g.Ledgers {
		if now := w.ledgerLines(name); !slices.Equal(now, then) || len(now) < 3 {
			w.t.Errorf("the ledger of %s held\n%s\nand holds\n%s", name, strings.Join(then, "\n"), strings.Join(now, "\n"))
		}
	}
}

// ledgerLines returns all releases of a party, without what was found beside earlier ones. The names of
// questions are left out: earlier programs had others.
func (w *testbed) ledgerLines(name string) (lines []string) {
	w.t.Helper()
	list, err := w.releases(name).List()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range list {
		if r.Question {
			r.ID = "question"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s of %s to %v, %d columns, %d rows, %d uses",
			r.ID, r.State, r.Kind, r.Job, r.Peers, r.Columns, r.Rows, r.Uses))
	}
	slices.Sort(lines)
	return lines
}

// wantOver checks that unfinished jobs end: one whose sessions belong to the earlier program, and those
// that decide something about a table that its operator decides now.
func (w *testbed) wantOver(g golden) {
	w.t.Helper()
	for name, why := range map[string]string{
		"open":      "this session has been run before and never runs again",
		"queued":    "refused: job: the job itself gives the classes of the label",
		"described": "refused: job: the job itself describes the columns, which each party's operator must approve",
	} {
		if g.Jobs[name] == "" {
			continue
		}
		if f := w.wait(g.id(w.t, name)).Failure; f == nil || !strings.Contains(f.Message, why) {
			w.t.Errorf("%s: %+v, want %q", name, f, why)
		}
	}
}

// wantAnswers checks that finished jobs have their results, and that their models say what they said.
func (w *testbed) wantAnswers(g golden) {
	w.t.Helper()
	for name, said := range g.Says {
		id := g.id(w.t, name)
		done, err := w.members[hub].boss.Get(id)
		if err != nil || done.State != overview.Done || done.Result == nil || done.Result.Training < 20 {
			w.t.Errorf("%s: %+v, %v", name, done.Status, err)
		}
		if says := w.answers(name, id); len(says) < 15 || !slices.Equal(says, said) {
			w.t.Errorf("%s said %q and says %q", name, said, says)
		}
	}
}

// answers returns the predictions of an era's model for new rows.
func (w *testbed) answers(name string, id job.ID) []string {
	w.t.Helper()
	switch name {
	case "hospitals":
		return w.diagnoses(id)
	case "fdskl":
		return w.says("gram", id)
	}
	return w.says(name, id)
}

// diagnoses returns a model's predictions for patients of north, prepared like the job's rows.
func (w *testbed) diagnoses(id job.ID) []string {
	w.t.Helper()
	content, err := w.members["north"].party.Preparation(id)
	if err != nil {
		w.t.Fatal(err)
	}
	made, err := prepare.Decode(content)
	if err != nil {
		w.t.Fatal(err)
	}
	set := wards(w.t)[0].Table.Set.Subset(span(0, 20))
	if set, err = made.Prepare(set, set.X.(*prepare.Frame)); err != nil {
		w.t.Fatal(err)
	}
	a, err := w.ask("north", id, set, "")
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Predicted
}

// wantHeld checks that releases are compared with those of the earlier program: equal ones pass, a column less
// is held, and so are rows of people who are in its sums.
func (w *testbed) wantHeld(g golden) {
	w.t.Helper()
	old, err := w.members[hub].boss.Get(g.id(w.t, "okra"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.give(patients(w.t))
	w.mustRun(old.Spec)
	w.give(fewerColumns(patients(w.t)))
	w.mustHold("a column less", old.Spec)
	w.give(firstTumours(w.t, old.Spec, 80))
	w.mustHold("people in sums", old.Spec)
}

// mustHold runs a job that some party's ledger holds.
func (w *testbed) mustHold(what string, j *job.Job) {
	w.t.Helper()
	f := w.run(j).Failure
	if f == nil || f.Code != fault.CodePolicy || !strings.Contains(f.Message, "the job awaits its operator's approval") {
		w.t.Errorf("%s: %+v", what, f)
	}
}

// wantContinued checks that a job continues one of the earlier program, and that no row travels again.
func (w *testbed) wantContinued(g golden) {
	w.t.Helper()
	w.give(patients(w.t))
	done := w.mustRun(eraOkra(w.t, "[north, south]", ", continues: "+g.Jobs["kept"], ""))
	d, err := method.DetailsOf[okra.Details](done.Result)
	if err != nil || d == nil || d.Continued == nil {
		w.t.Fatalf("%+v, %v", d, err)
	}
	if c := d.Continued; c.Job != g.Jobs["kept"] || c.Rows["north"]+c.Rows["south"]+c.Products > 0 {
		w.t.Errorf("%+v", c)
	}
}

// eraOkra returns a job of okra that fits nothing, with more keys of the protocol and of the job.
func eraOkra(t *testing.T, parties, keys, more string) *job.Job {
	t.Helper()
	text := strings.NewReplacer("[north, south, east]", parties, "{name: okra}", "{name: okra"+keys+"}",
		"label: label", "label: label\n    scale: none").Replace(fmt.Sprintf(jobFile, more))
	return jobtest.Parse(t, text)
}

// patients returns the last 14 rows of each party under names of their own, for the jobs of okra.
func patients(t *testing.T) []partition.Share {
	t.Helper()
	shares := firstTumours(t, eraOkra(t, allHospitals, "", ""), 80)
	for i, s := range shares {
		n := s.Table.Set.X.Rows()
		set := *s.Table.Set.Subset(span(n-14, n))
		set.IDs = nil
		for k := range set.X.Rows() {
			set.IDs = append(set.IDs, fmt.Sprintf("patient %d of %s", k, s.Party))
		}
		shares[i].Table.Set = &set
	}
	return shares
}

// fewerColumns leaves the first column out.
func fewerColumns(shares []partition.Share) []partition.Share {
	for i := range shares {
		shares[i].Table.Set = firstColumnLess(shares[i].Table.Set)
	}
	return shares
}

// wards returns the first 50 rows of each hospital.
func wards(t *testing.T) []partition.Share {
	t.Helper()
	shares := hospitals(t, jobtest.Parse(t, schemaJob))
	for i := range shares {
		shares[i].Table.Set = shares[i].Table.Set.Subset(span(0, 50))
	}
	return shares
}

package coordinator_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/mail"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/linalg"
)

// What south alone holds: digits of a cell, a word, which may be an id, a label, a
// column's name, a date or part of a path.
const (
	canaryDigits = "31415926"
	canaryWord   = "zz-smith-1971"
)

// everyProtocol holds one small job for each protocol that daemons run.
func everyProtocol(t *testing.T) map[string]*job.Job {
	t.Helper()
	return map[string]*job.Job{
		"okra":         parse(t, ""),
		"okra, scaled": between(t, "[north, south, east]", "wire: float64"),
		"flake":        with(t, "{name: flake}"),
		"escaped":      with(t, "{name: escaped, mode: paper}"),
		"moments":      moments(t, ", directions: 4", ""),
		"gram":         columns(t),
		"pp-svmv":      ring(t),
		"fdskl":        phases(t, "{join: 20s, round: 20s}"),
		"fd-svrg":      slopes(t),
		"secureboost":  boosted(t),
	}
}

// with is the small job by another protocol.
func with(t *testing.T, protocol string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, ""), "{name: okra}", protocol, 1))
}

// poisoned returns a copy of south's table with something in it that no job can use.
func poisoned(t method.Table, how string) method.Table {
	set := *t.Set
	set.Name = "/secret/" + canaryWord + "/people.csv"
	x := linalg.New[float64](set.X.Rows(), set.X.Cols())
	linalg.Gather(x, dataset.RowsOf(set.X), 0)
	set.X = dataset.NewDense(x)
	value := map[string]float64{"huge": 3.1415926e200, "large": 3.1415926e120}[how]
	for i := range x.Rows {
		if value != 0 && i%2 == 0 {
			x.Row(i)[0] = value
		}
	}
	switch how {
	case "a label":
		set.Labels = slices.Repeat([]string{strings.Repeat(canaryWord, 300)}, x.Rows)
	case "a class":
		set.Labels = slices.Repeat([]string{canaryWord, strings.ToUpper(canaryWord)}, x.Rows)[:x.Rows]
	case "ids":
		set.IDs = slices.Repeat([]string{canaryWord}, x.Rows)
	case "a column":
		set.Columns = make([]string, x.Cols)
		for i := range set.Columns {
			set.Columns[i] = fmt.Sprint(canaryWord, i)
		}
	case "no number":
		x.Row(1)[0] = math.NaN()
	}
	t.Set = &set
	return t
}

// An error about a cell, a label, an id, a column, a path or a query leaves south as a code: its
// text is in no message that south sends, in nobody else's log and in no result. South's own log
// has it.
func TestNoCellLeavesItsHouseInAnError(t *testing.T) {
	t.Parallel()
	for protocol, j := range everyProtocol(t) {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			failed, told := 0, make(map[fault.Trouble]bool)
			poisons := []string{"huge", "large", "no number", "ids", "a source"}
			if j.Data.Partition.By != job.Columns { // where south has no labels, and names need not agree
				poisons = append(poisons, "a label", "a class", "a column")
			}
			if protocol != "okra, scaled" {
				j.Data.Scale = "none" // which would make large numbers small
			}
			for _, how := range poisons {
				if poison(t, j, how, told) {
					failed++
				}
			}
			if failed < 4 || len(told) < 2 {
				t.Errorf("%d jobs failed, with troubles %v: the cells do no harm", failed, told)
			}
		})
	}
}

// poison runs a job over south's table with something in it that no job can use, and reports
// whether it failed.
func poison(t *testing.T, j *job.Job, how string, told map[fault.Trouble]bool) bool {
	t.Helper()
	w := newTestbed(t, tumours(t, j)).lets(j)
	w.policy.Modes = []string{string(job.Paper), string(job.Hardened)}
	w.reads = func(name string, _ job.Data) (method.Table, error) {
		switch own := w.table(name); {
		case name != "south":
			return own, nil
		case how == "a source":
			return own, fmt.Errorf("ERROR: relation %q does not exist near 1.%s (SQLSTATE 42P01)", canaryWord, canaryDigits)
		default:
			return poisoned(own, how), nil
		}
	}
	began := time.Now()
	done := w.run(j)
	w.wantQuiet(how, told)
	for _, name := range slices.Collect(maps.Keys(w.members)) {
		w.halt(name)
	}
	t.Logf("%s: %v %+v", how, time.Since(began), done.Failure)
	return done.Failure != nil
}

// wantQuiet looks for the canaries everywhere but at south.
func (w *testbed) wantQuiet(what string, told map[fault.Trouble]bool) {
	w.t.Helper()
	for _, name := range []string{hub, "north", "east"} {
		for line := range strings.Lines(w.lines(name)) {
			if carries(line) {
				w.t.Errorf("%s: %s reads %s", what, name, line)
			}
		}
	}
	for _, r := range w.tap.all() {
		h := header(w.t, r.data)
		if r.from != "south" && r.from != hub || h.Protocol != mail.Control {
			continue
		}
		v, err := envelope.Verify(r.data, w.roster.SigningKey, r.to)
		if err != nil {
			w.t.Fatal(err)
		}
		m, err := v.Open(w.keys[r.to].KEMKey())
		if err != nil {
			w.t.Fatal(err)
		}
		if carries(string(m.Body)) {
			w.t.Errorf("%s: %s tells %s: %q", what, r.from, r.to, m.Body)
		}
		if n, ok := noticeIn(m.Kind, m.Body); ok && r.from == "south" {
			told[n.Trouble] = true
		}
	}
	for _, hit := range w.found([]needle{{"digits", []byte(canaryDigits[:7])}, {"word", []byte(canaryWord)}}) {
		if !strings.Contains(hit, w.home("south")) {
			w.t.Errorf("%s: %s", what, hit)
		}
	}
}

// carries reports whether a text holds a canary, in any of the forms in which numbers are printed.
func carries(s string) bool {
	for _, canary := range []string{canaryDigits, "3.1415926", "3.14159", "31415926", canaryWord, strings.ToUpper(canaryWord)} {
		if strings.Contains(s, canary) {
			return true
		}
	}
	return false
}

// noticeIn reads what a control message says of a failure.
func noticeIn(kind string, body []byte) (n fault.Notice, ok bool) {
	switch kind {
	case control.KindRefusal:
		if f, err := control.DecodeRefusal(body); err == nil {
			return f.Notice, true
		}
	case control.KindReport:
		if r, err := control.DecodeReport(body); err == nil && r.Code != fault.CodeDone {
			return r.Notice, true
		}
	}
	return n, false
}

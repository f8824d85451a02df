package coordinator_test

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// unlikeJob is a job of two sites, with a schema or without one.
const unlikeJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: sites}
spec:
  data:
    source: people
    label: %s
    partition: {parties: [north, south]}
%s
  protocol: {name: okra}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 1}
  timeout: {join: 20s, round: 20s}
`

const unlikeSchema = `    schema: {age: {range: [0, 120]}, kidney: {unit: umol/L, range: [0, 3000]}}
    scale: range`

// site is one party's file and what its catalogue says of it.
type site struct {
	header string
	own    prepare.Mapping
	times  float64 // what the second column is multiplied by; 0 for 1
	plus   float64 // what is then added to it
}

// lines returns the lines of one member's log.
func (w *testbed) lines(name string) string {
	var own []string
	for _, line := range strings.Split(w.logs.String(), "\n") {
		if strings.Contains(line, "member="+name) {
			own = append(own, line)
		}
	}
	return strings.Join(own, "\n")
}

// sites is a testbed whose parties read their files when a job asks for them.
func sites(t *testing.T, j *job.Job, of map[string]site) *testbed {
	t.Helper()
	var shares []partition.Share
	for _, name := range j.Parties() {
		shares = append(shares, partition.Share{Party: name})
	}
	w := newTestbed(t, shares)
	w.reads = func(name string, d job.Data) (method.Table, error) {
		s := of[name]
		text := s.header + "\n"
		for i := range 60 {
			text += fmt.Sprintf("%d,%.17g,%s\n", 20+i, s.plus+cmp.Or(s.times, 1)*float64(50+(7*i)%90), []string{"well", "ill"}[i/30])
		}
		mapping := s.own
		records, err := dataset.OpenCSV(name+".csv", strings.NewReader(text), mapping.Form())
		if err != nil {
			return method.Table{}, err
		}
		table := prepare.Table{Name: name + ".csv", Schema: d.Schema, Mapping: s.own}
		if d.Label != job.NoLabel {
			table.Label = d.Label
		}
		set, err := prepare.Read(records, table)
		return method.Table{Set: set, Key: dataset.SplitKey{byte(len(name))}}, err
	}
	return w
}

// A column that one site lacks, or has in another unit, is named in the log of the site that knows it.
// The job's error, the coordinator's disk and the other site's log have its name only if the job's
// schema has it; a file's own name for it stays at its site.
func TestSitesThatDiffer(t *testing.T) {
	t.Parallel()
	plain := site{header: "age,kidney,diagnosis"}
	without := site{header: "age,weightloss,diagnosis"}
	other := site{header: "age,krea,diagnosis", own: prepare.Mapping{Columns: map[string]prepare.Theirs{"krea": {As: "kidney", Unit: "mg/dL"}}}}
	class := site{header: "age,kidney,diagnosis", own: prepare.Mapping{Columns: map[string]prepare.Theirs{"diagnosis": {Values: map[string]string{"ill": "moribund"}}}}}
	for _, tt := range []struct {
		name, label, schema string
		south               site
		says                string // the job's error
		north, own          string // parts of the logs of north and of south
		secret              map[string][]string
	}{
		{"missing, by the schema", "diagnosis", unlikeSchema, without, `south refused: its table has no column "kidney", which the job's schema describes; its own log says more`,
			"", `there is no column \"kidney\"`, map[string][]string{"weightloss": {hub, "north"}}},
		{"another unit, by the schema", "diagnosis", unlikeSchema, other, `south refused: its catalogue gives column "kidney" a unit or a factor that does not fit the job's schema; its own log says more`,
			"", `column \"krea\" is in mg/dL, but the schema has umol/L; write the conversion factor as \"times\" in the catalogue`, map[string][]string{"krea": {hub, "north"}, "mg/dL": {hub, "north"}}},
		{"missing, without a schema", "diagnosis", "", without, "column 2 of the table of north (the leader) has no partner at south",
			`south has no column \"kidney\" (2 of this table)`, `north (the leader) has no column \"weightloss\"`, map[string][]string{"kidney": {hub, "south"}, "weightloss": {hub, "north"}}},
		{"a unit without a schema", "diagnosis", "", other, "south refused: its data cannot be used for this job; its own log says why",
			"", `column \"krea\" is in mg/dL by the catalogue`, map[string][]string{"kidney": {hub, "south"}, "krea": {hub, "north"}}},
		{"a class that is not listed", "{column: diagnosis, classes: [well, ill]}", unlikeSchema, class, "south refused: its data cannot be used for this job; its own log says why",
			"", `south.csv:32: the class \"moribund\" is not one of the classes that the job lists`, map[string][]string{"moribund": {hub, "north"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := jobtest.Parse(t, fmt.Sprintf(unlikeJob, tt.label, tt.schema))
			w := sites(t, j, map[string]site{"north": plain, "south": tt.south})
			done := w.run(j)
			if done.Failure == nil || done.Failure.Code != fault.CodeBadInput || !strings.Contains(done.Failure.Message, tt.says) {
				t.Fatalf("the job ends with %+v, want %s", done.Failure, tt.says)
			}
			for name, want := range map[string]string{"north": tt.north, "south": tt.own} {
				if !strings.Contains(w.lines(name), want) {
					t.Errorf("%s reads %s, want %s", name, w.lines(name), want)
				}
			}
			for word, from := range tt.secret {
				for _, hit := range w.found([]needle{{word, []byte(word)}}) {
					if strings.Contains(hit, filepath.Join(w.dir, hub)) {
						t.Errorf("the coordinator's disk has %s", hit)
					}
				}
				for _, name := range from {
					if strings.Contains(w.lines(name), word) {
						t.Errorf("the log of %s has %s: %s", name, word, w.lines(name))
					}
				}
			}
		})
	}
}

// A job that scales nothing cannot use a column whose numbers are far from zero beside their spread.
// Its owner's log names the column with its mean. The coordinator and the others read only that the
// columns cannot be prepared.
func TestAColumnFarFromZero(t *testing.T) {
	t.Parallel()
	j := jobtest.Parse(t, fmt.Sprintf(unlikeJob, "diagnosis", "    scale: none"))
	south := site{header: "age,kidney,diagnosis", plus: 17e9}
	w := sites(t, j, map[string]site{"north": {header: "age,kidney,diagnosis"}, "south": south})
	done := w.run(j)
	if done.Failure == nil || done.Failure.Code != fault.CodeBadInput || !strings.Contains(done.Failure.Message, "south refused: "+fault.Columns.Sentence()) {
		t.Fatalf("the job ends with %+v", done.Failure)
	}
	if want := `column \"kidney\" has the mean 1.7e+10`; !strings.Contains(w.lines("south"), want) {
		t.Errorf("south reads %s, want %s", w.lines("south"), want)
	}
	for _, secret := range []string{"kidney", "1.7e+10", "standard deviation"} {
		if text := done.Failure.Message + w.lines(hub) + w.lines("north"); strings.Contains(text, secret) {
			t.Errorf("others read %q: %s", secret, text)
		}
	}
}

// After a preparation is fitted, a party whose column lies far from the others' has a notice in its own
// log and among the job's files in its home. Nobody else receives it.
func TestAColumnFarFromTheOthers(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf(unlikeJob, "{column: diagnosis, classes: [well, ill]}", `    schema: {age: {range: [0, 120]}, kidney: {range: [0, 3000], missing: median}}
    scale: standard`)
	j := jobtest.Parse(t, strings.Replace(text, "[north, south]", "[north, south, east]", 1))
	plain := site{header: "age,kidney,diagnosis"}
	w := sites(t, j, map[string]site{"north": plain, "east": plain, "south": {header: "age,kidney,diagnosis", times: 1 / 88.42}}) // mg/dL
	done := w.mustRun(j)
	if f := done.Result.Figures; f == nil || f.Positive != "ill" {
		t.Errorf("the listed classes are not in their order: %+v", f)
	}
	const notice = `column \"kidney\": the median of this party's training rows is `
	for _, name := range []string{hub, "north", "south", "east"} {
		if own := name == "south"; strings.Contains(w.lines(name), notice) != own || strings.Contains(w.lines(name), "kidney") != own {
			t.Errorf("the log of %s: %s", name, w.lines(name))
		}
		left, err := w.artifacts(name).Get(done.Spec.Data.Fit.Job, vault.Notices) // of the job that has fitted
		if name == "south" && (err != nil || !strings.HasPrefix(string(left), `column "kidney": the median`) || strings.Contains(string(left), "\n")) {
			t.Errorf("south keeps %q, %v", left, err)
		}
		if name != "south" && !errors.Is(err, vault.ErrNoState) {
			t.Errorf("%s keeps %q", name, left)
		}
	}
	if hits := w.found([]needle{{"notice", []byte("the median of this party")}}); len(hits) > 0 {
		t.Errorf("a disk has %q", hits)
	}
}

//go:build slow

package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/disclosure/disclosuretest"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const registry = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: registry}
spec:
  columns:
    age: {range: [0, 120], missing: mean}
    krea: {range: [1, 400], missing: median}
    bmi: {range: [10, 60]}
    systolic: {range: [60, 260]}
    glucose: {range: [20, 600]}
  labels: {diagnosis: {classes: [ill, well]}}
`

// registries are hospitals whose tables grow, with their homes, ledgers and fits.
type registries struct {
	*testing.T
	reader  *job.Reader
	dict    *job.Dictionary
	random  *rand.Rand
	names   []string
	homes   map[string]Home
	configs map[string]*Config
	tables  map[string]string
	people  map[string]int
	ledgers disclosuretest.Ledgers
	fits    map[string][]byte
	jobs    byte
	number  int
}

func newRegistries(t *testing.T, people map[string]int) *registries {
	t.Helper()
	d, err := job.ParseDictionary("registry.yaml", []byte(registry))
	if err != nil {
		t.Fatal(err)
	}
	r := &registries{T: t, dict: d, random: rand.New(rand.NewPCG(1, 2)), homes: make(map[string]Home), configs: make(map[string]*Config),
		tables: make(map[string]string), people: make(map[string]int), ledgers: make(disclosuretest.Ledgers), fits: make(map[string][]byte)}
	r.reader = all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return d, nil })
	r.names = []string{"north", "south", "east"}
	for i, name := range r.names {
		h := At(filepath.Join(t.TempDir(), name))
		c := &Config{Name: name, Coordinator: "nats://127.0.0.1:4222", Data: map[string]Source{"patients": {
			Path: "patients.csv", Label: Labels{Columns: []string{"diagnosis"}}, ID: job.OwnID{}, Columns: OwnColumns{Offered: d.Columns.Names()},
		}}}
		s := c.Data["patients"]
		s.ID.Columns = []string{"id"}
		c.Data["patients"] = s
		if _, err := h.Create(all.Reader(), c, roster.Party, [32]byte{byte(i + 1)}); err != nil {
			t.Fatal(err)
		}
		if err := c.save(h.ConfigPath(), roster.Party); err != nil {
			t.Fatal(err)
		}
		r.homes[name], r.configs[name], r.ledgers[name] = h, c, h.Releases()
		r.tables[name] = "id,age,krea,bmi,systolic,glucose,diagnosis\n"
		r.come(name, people[name])
		if _, err := h.Freeze(context.Background(), all.Reader(), d, "patients"); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// come adds people to a table.
func (r *registries) come(name string, n int) {
	r.Helper()
	for range n {
		r.people[name]++
		ill := r.random.Float64() < 0.3
		more := 0.0
		if ill {
			more = 20
		}
		r.tables[name] += fmt.Sprintf("%s-%d,%d,%.1f,%.1f,%.0f,%.0f,%s\n", name, r.people[name], 20+r.random.IntN(70), 50+100*r.random.Float64()+more, 18+20*r.random.Float64(),
			100+80*r.random.Float64()+more, 70+80*r.random.Float64()+more, map[bool]string{true: "ill", false: "well"}[ill])
	}
	r.homes[name].put(r.T, "patients.csv", r.tables[name])
}

// freeze makes further editions where that tells nobody apart, and returns how many.
func (r *registries) freeze() (made int) {
	r.Helper()
	for _, name := range r.names {
		h := r.homes[name]
		var lack *edition.LackError
		switch _, err := h.Freeze(context.Background(), all.Reader(), r.dict, "patients"); {
		case err == nil:
			made++
		case !errors.As(err, &lack):
			r.Fatalf("%s: %v", name, err)
		}
	}
	return made
}

// members makes the members of a job ready, as daemons do.
func (r *registries) members(j *job.Job) *methodtest.Federation {
	r.Helper()
	m, err := method.Of(j)
	if err != nil {
		r.Fatal(err)
	}
	r.number++
	c := methodtest.Instance(j)
	c.ID = job.ID{0xee, byte(r.number >> 8), byte(r.number)}
	c.Limits = method.DefaultLimits()
	tables := make(map[string]method.Table)
	for name, h := range r.homes {
		key, err := h.splitKey()
		if err != nil {
			r.Fatal(err)
		}
		t, err := h.load(context.Background(), r.configs[name], j.Data, key, snapshots{h.kept(r.T), c.ID})
		if err != nil {
			r.Fatal(err)
		}
		t.Fit = r.fits[name]
		tables[name] = t
	}
	return methodtest.New(r.T, m, c, tables)
}

// parse reads a job that names the fit, once there is one.
func (r *registries) parse(data, protocol, kernel, learner string) *job.Job {
	r.Helper()
	j, err := r.reader.Parse("job.yaml", fmt.Appendf(nil, `apiVersion: mercer/v1
kind: Job
metadata: {name: registry}
spec:
  data:
    source: patients
    dictionary: registry
    label: diagnosis
    scale: standard
    partition: {parties: [north, south, east]}
%s  protocol: %s
  kernel: %s
  learner: %s
`, data, protocol, kernel, learner))
	if err != nil {
		r.Fatal(err)
	}
	if len(r.fits) > 0 {
		j.Data.Fit.Job = job.ID{1}
	}
	return j
}

// fit makes the one fit.
func (r *registries) fit() {
	r.Helper()
	f := r.members(r.reader.FitOf(r.parse("", "{name: okra}", "{name: linear}", "{name: svc}")))
	r.ledgers.MustPlay(r.T, f, "prepared")
	for name, p := range f.Parties {
		var b bytes.Buffer
		if err := p.Later.Write(&b); err != nil {
			r.Fatal(err)
		}
		r.fits[name] = b.Bytes()
	}
}

// submit runs a job as far as it tells anything. If ledgers hold it, every operator says yes, and
// reasons are counted.
func (r *registries) submit(j *job.Job, last string, reasons map[string]int) (waited bool) {
	r.Helper()
	for range 4 {
		err := r.ledgers.Play(r.T, r.members(j), last)
		var held *disclosure.HeldError
		switch {
		case err == nil:
			return waited
		case !errors.As(err, &held):
			r.Fatal(err)
		}
		waited = true
		for _, said := range held.Reveals {
			reasons[anyNumber.ReplaceAllString(said, "N")]++
		}
		for name, l := range r.ledgers {
			r.ledgers.Abort(r.T, name)
			list, err := l.List()
			if err != nil {
				r.Fatal(err)
			}
			for _, e := range list {
				if e.State == disclosure.Held {
					if err := l.Approve(e.ID, disclosuretest.Agree); err != nil {
						r.Fatal(err)
					}
				}
			}
		}
	}
	r.Fatal("held again and again")
	return true
}

var anyNumber = regexp.MustCompile("[0-9]+")

// always are the reasons for which jobs wait by rule: rows beside sums, and rows of other columns.
var always = regexp.MustCompile("both in sums and among encoded rows|in this job and not in the earlier one|in the earlier job and not in this one")

// jobKind is a kind of job that researchers submit.
type jobKind struct {
	name   string
	often  int  // in 40
	asks   bool // by rule, an operator
	submit func(reasons map[string]int) (waited bool)
}

func (r *registries) kinds() []jobKind {
	okra := func(data, kernel, learner string) func(map[string]int) bool {
		return func(reasons map[string]int) bool {
			return r.submit(r.parse(data, "{name: okra}", kernel, learner), "protocol", reasons)
		}
	}
	moments := func(gamma string) func(map[string]int) bool {
		return func(reasons map[string]int) bool {
			return r.submit(r.parse("", "{name: moments, directions: 16, classes: [ill, well]}", "{name: rbf, gamma: "+gamma+"}", "{name: ridge-classifier, alpha: 1}"), "sums", reasons)
		}
	}
	return []jobKind{
		{"okra, a grid", 16, false, okra("    folds: 3\n    test: {fraction: 0.25}\n", "{name: rbf, gamma: [0.1, 1]}", "{name: svc, C: [1, 10]}")},
		{"okra, north held out", 3, false, okra("    test: {party: north}\n", "{name: rbf, gamma: 0.5}", "{name: svc}")},
		{"okra, south held out", 3, false, okra("    test: {party: south}\n", "{name: rbf, gamma: 0.5}", "{name: svc}")},
		{"okra, east held out", 3, false, okra("    test: {party: east}\n", "{name: rbf, gamma: 0.5}", "{name: svc}")},
		{"okra, one column less", 3, true, okra("    columns: [age, krea, bmi, systolic]\n", "{name: rbf, gamma: 0.5}", "{name: svc}")},
		{"okra, two columns", 3, true, okra("    columns: [age, glucose]\n", "{name: rbf, gamma: 0.5}", "{name: svc}")},
		{"moments, gamma .1", 3, true, moments("0.1")},
		{"moments, gamma .5", 3, true, moments("0.5")},
		{"moments, gamma 2", 3, true, moments("2")},
	}
}

// kindTally counts the jobs of a kind, and why they waited.
type kindTally struct {
	ran, waited int
	reasons     map[string]int
}

// run submits one more, and returns whether it waited for a reason that is none of those by rule,
// and whether for any.
func (y *kindTally) run(k jobKind) (other, any bool) {
	why := make(map[string]int)
	y.ran++
	if k.submit(why) {
		y.waited++
	}
	for said, n := range why {
		y.reasons[said] += n
		other = other || !always.MatchString(said)
	}
	return other, len(why) > 0
}

// Three hospitals to which one to five people come each day freeze their tables each week, for half
// a year, and 40 jobs a month run. Of those by okra over all columns, with grids or with a hospital
// held out, no more than one in twenty waits for an operator for another reason than that sums, or
// other columns, of these people are out.
func TestHonestUse(t *testing.T) {
	r := newRegistries(t, map[string]int{"north": 400, "south": 600, "east": 500})
	r.fit()
	kinds := r.kinds()
	var turns []int
	tallies := make([]kindTally, len(kinds))
	for i, k := range kinds {
		tallies[i].reasons = make(map[string]int)
		for range k.often {
			turns = append(turns, i)
		}
	}
	plain, held, ruled, editions := 0, 0, 0, 0
	for day := range 182 {
		for _, name := range r.names {
			r.come(name, 1+r.random.IntN(5))
		}
		if day%7 == 6 {
			editions += r.freeze()
		}
		for range (day+1)*4/3 - day*4/3 { // 40 in 30 days
			i := turns[r.random.IntN(len(turns))]
			other, any := tallies[i].run(kinds[i])
			switch {
			case kinds[i].asks:
				continue
			case other:
				held++
			case any:
				ruled++
			}
			plain++
		}
	}
	t.Logf("%d further editions of three homes in 26 weeks", editions)
	for i, k := range kinds {
		t.Logf("%s: %d jobs, %d waited", k.name, tallies[i].ran, tallies[i].waited)
		for why, n := range tallies[i].reasons {
			t.Logf("   %d times: %s", n, why)
		}
	}
	t.Logf("of %d jobs by okra over all columns %d waited, and %d more since sums or other columns were out", plain, held, ruled)
	if plain < 100 || 20*held > plain {
		t.Errorf("%d of %d jobs waited", held, plain)
	}
}

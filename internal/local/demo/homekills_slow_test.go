//go:build slow

package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/edition"
	"github.com/mercer-fl/mercer/linalg"
)

// registryFile needs a fitted median, and the job a scaling.
const registryFile = `apiVersion: mercer/v1
kind: Dictionary
metadata: {name: registry}
spec:
  columns: {age: {range: [0, 120], missing: median}, krea: {range: [1, 400]}, bmi: {range: [10, 60]}}
  labels: {label: {classes: [a, b]}}
`

// registryJob has places for a name, a protocol and a learner.
const registryJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: %s}
spec:
  data: {source: own, dictionary: registry, partition: {parties: [north, south, east]}, scale: standard}
  protocol: %s
  kernel: {name: rbf, gamma: 0.5}
  learner: %s
`

// The releases of jobs of two protocols, and how the jobs are written.
var protocols = map[method.ReleaseKind][2]string{
	method.ReleaseRows: {"{name: okra}", "{name: svc}"},
	method.ReleaseSums: {"{name: moments, directions: 4}", "{name: ridge-classifier, alpha: 1}"},
}

// registry is a federation of homes with growing tables, and of jobs that release one kind.
type registry struct {
	*testing.T
	*demo.Federation
	kind   method.ReleaseKind
	people int
	random *rand.Rand    // nil: nothing is killed
	full   time.Duration // for freezing a table
	mu     sync.Mutex
	kills  map[string]int // by the step that they interrupt
}

// hit counts a kill.
func (r *registry) hit(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kills[step]++
}

var hospitals = []string{"north", "south", "east"}

// foundRegistry founds a federation and starts its daemons. All secrets except the keys of
// ledgers and of editions follow from one seed, so that two federations train the same
// models.
func foundRegistry(t *testing.T, kind method.ReleaseKind, random *rand.Rand) *registry {
	t.Helper()
	t.Setenv(beMercer, "yes")
	d, err := job.ParseDictionary("registry.yaml", []byte(registryFile))
	if err != nil {
		t.Fatal(err)
	}
	r := &registry{T: t, kind: kind, people: 600, random: random, full: time.Second / 5, kills: make(map[string]int)}
	c := demo.Config{Program: []string{os.Args[0]}, Dir: folder(t), Dictionary: d, InsecureSeed: new(uint64(7))}
	c.Reader = all.Reader().Knowing(func(string, string) (*job.Dictionary, error) { return d, nil })
	for i, name := range hospitals {
		table := method.Table{Set: r.table(i), Key: dataset.SplitKey{byte(i + 1)}}
		c.Shares = append(c.Shares, partition.Share{Party: name, Table: table})
	}
	if c.Job, err = c.Reader.Parse("job.yaml", r.file("first")); err != nil {
		t.Fatal(err)
	}
	if r.Federation, err = demo.Found(c); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.end)
	return r
}

// expected matches the errors that daemons log about failed jobs.
var expected = regexp.MustCompile("aborted by the operator|has not approved dictionary registry")

// end stops the daemons: each ends well, and none has panicked or logged another error.
func (r *registry) end() {
	err := r.Stop()
	for _, name := range r.Names() {
		err = errors.Join(err, r.Ended(name))
	}
	logs := r.Logs()
	for line := range strings.Lines(logs) {
		failed := strings.Contains(line, "level=ERROR") && !expected.MatchString(line)
		if failed || strings.Contains(line, "panic:") || strings.Contains(line, "fatal error:") {
			err = errors.Join(err, errors.New(line))
		}
	}
	if err != nil || r.Failed() {
		r.Errorf("%v\n%s", err, logs)
	}
}

// table returns the people of a home so far; later people follow the earlier ones.
func (r *registry) table(home int) *dataset.Set {
	random := rand.New(rand.NewPCG(uint64(home), 3))
	set := &dataset.Set{Columns: []string{"age", "krea", "bmi"}}
	x := linalg.New[float64](r.people, 3)
	for i := range r.people {
		for k, from := range []float64{20, 40, 18} {
			x.Row(i)[k] = math.Round(10*(from+40*random.Float64())) / 10
		}
		set.IDs = append(set.IDs, fmt.Sprintf("p%d-%d", home, i))
		set.Labels = append(set.Labels, string(rune('a'+random.IntN(2))))
	}
	set.X = dataset.NewDense(x)
	return set
}

// file returns a job with a name.
func (r *registry) file(name string) []byte {
	return fmt.Appendf(nil, registryJob, name, protocols[r.kind][0], protocols[r.kind][1])
}

// mercer runs a command in the federation's folder, and decodes its document.
func (r *registry) mercer(result any, args ...string) (exit int) {
	r.Helper()
	var out bytes.Buffer
	c := r.command(args...)
	c.Stdout = &out
	err := c.Run()
	if c.ProcessState == nil || c.ProcessState.ExitCode() < 0 {
		r.Fatalf("mercer %s: %v", args, err)
	}
	if exit = c.ProcessState.ExitCode(); exit == cli.Done {
		if err := json.Unmarshal(out.Bytes(), &struct{ Result any }{result}); err != nil {
			r.Fatalf("mercer %s: %v: %s", args, err, out.Bytes())
		}
	}
	return exit
}

func (r *registry) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(r.Context(), os.Args[0], append(args, "--json")...)
	c.Dir = r.Dir
	return c
}

// mustRun is mercer for a command that must succeed.
func (r *registry) mustRun(result any, args ...string) {
	r.Helper()
	if exit := r.mercer(result, args...); exit != cli.Done {
		r.Fatalf("mercer %s ends with %d\n%s", args, exit, r.Logs())
	}
}

// come adds people to all homes.
func (r *registry) come(people int) {
	r.Helper()
	r.people += people
	for i, name := range hospitals {
		var b bytes.Buffer
		err := dataset.WriteCSV(&b, r.table(i))
		if err == nil {
			err = os.WriteFile(filepath.Join(r.Home(name).String(), "own.csv"), b.Bytes(), 0o600)
		}
		if err != nil {
			r.Fatal(err)
		}
	}
}

// editions returns the editions of a home.
func (r *registry) editions(home string) []edition.Edition {
	r.Helper()
	var list struct{ Editions []edition.Edition }
	r.mustRun(&list, "edition", "list", "--home", home)
	return list.Editions
}

// freeze freezes the tables of all homes. If processes are killed, it kills a first
// command.
func (r *registry) freeze() {
	r.Helper()
	for _, name := range hospitals {
		if r.random != nil {
			r.freezeKilled(name, r.random.IntN(6))
		}
		before, began := r.editions(name), time.Now()
		r.mustRun(new(any), "data", "freeze", "own", "--home", name)
		r.full = time.Since(began)
		after := r.editions(name)
		if !oneMore(before, after) {
			r.Fatalf("%s has frozen the table once more, and has\n%+v, after\n%+v", name, after, before)
		}
		r.onlyNamed(name, after)
	}
}

// oneMore reports whether a list of editions has one more than before, and the others
// unchanged.
func oneMore(before, after []edition.Edition) bool {
	return len(after) == len(before)+1 && cmp.Equal(after[:len(before)], before)
}

// freezeKilled kills a command that freezes the table. After it there are the same
// editions, or one more.
func (r *registry) freezeKilled(name string, files int) {
	r.Helper()
	before, whole := r.editions(name), r.reading(name)
	wrote := r.freezeUntil(name, files)
	after := r.editions(name)
	whole()
	switch {
	case oneMore(before, after):
		r.hit("freezing, and the edition is there")
	case !cmp.Equal(after, before):
		r.Fatalf("the editions of %s were %+v, and are %+v", name, before, after)
	case wrote:
		r.hit("freezing, and some of the edition is there")
	}
}

// reading opens a home's list of editions. An open list can be read to its end unchanged,
// even if it is replaced.
func (r *registry) reading(name string) (whole func()) {
	r.Helper()
	path := filepath.Join(r.Home(name).String(), "editions", "list")
	before, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	list, err := os.Open(path)
	if err != nil {
		r.Fatal(err)
	}
	return func() {
		r.Helper()
		now, err := io.ReadAll(list)
		if err := errors.Join(err, list.Close()); err != nil || !bytes.Equal(now, before) {
			r.Fatalf("%s is written while somebody reads it: %d bytes and then %d, error %v", path, len(before), len(now), err)
		}
	}
}

// freezeUntil kills a command that freezes the table when it has written some of the four
// folders of an edition and the list, or at a random time. It reports whether the command
// had written anything.
func (r *registry) freezeUntil(name string, files int) (wrote bool) {
	r.Helper()
	made, ended := r.since(name, "editions/*[0-9a-f]", "editions/list"), make(chan struct{})
	c := r.command("data", "freeze", "own", "--home", name)
	if err := c.Start(); err != nil {
		r.Fatal(err)
	}
	go func() { defer close(ended); _ = c.Wait() }()
	if files == 0 {
		time.Sleep(time.Duration(r.random.Int64N(int64(r.full))))
	}
	for made() < files {
		select {
		case <-ended:
			files = 0
		case <-time.After(100 * time.Microsecond):
		}
	}
	_ = c.Process.Kill() // it may have ended
	<-ended
	switch exit := c.ProcessState.ExitCode(); {
	case exit < 0:
		r.hit("freezing")
	case exit != cli.Done:
		r.Fatalf("nobody has killed mercer data freeze, and it ends with %d", exit)
	}
	return made() > 0
}

// onlyNamed checks that a crash has left nothing besides the editions, and that these are
// complete.
func (r *registry) onlyNamed(name string, list []edition.Edition) {
	r.Helper()
	folder := filepath.Join(r.Home(name).String(), "editions")
	text, err := os.ReadFile(filepath.Join(folder, "list"))
	if err != nil {
		r.Fatal(err)
	}
	there, _ := filepath.Glob(filepath.Join(folder, strings.Repeat("?", 32)))
	for _, path := range there {
		if !bytes.Contains(text, []byte(filepath.Base(path))) {
			r.Errorf("%s is there, and the list does not name it", path)
		}
	}
	for i, e := range list {
		if _, err := os.Stat(filepath.Join(folder, e.ID, "held")); err != nil || e.Number != i+1 {
			r.Errorf("edition %+v: %v", e, err)
		}
	}
}

// since counts new files and folders of a home that match a pattern. A rewritten file is a
// new one.
func (r *registry) since(home string, patterns ...string) (count func() int) {
	before := r.matching(home, patterns)
	return func() (n int) {
		for path, now := range r.matching(home, patterns) {
			if then, was := before[path]; !was || !then.Equal(now) {
				n++
			}
		}
		return n
	}
}

// matching returns files with their modification times, and folders without.
func (r *registry) matching(home string, patterns []string) map[string]time.Time {
	at := make(map[string]time.Time)
	for _, p := range patterns {
		paths, _ := filepath.Glob(filepath.Join(r.Home(home).String(), p))
		for _, path := range paths {
			switch s, err := os.Stat(path); {
			case err != nil: // it is gone
			case s.IsDir():
				at[path] = time.Time{}
			default:
				at[path] = s.ModTime()
			}
		}
	}
	return at
}

// moment is the time of a kill: when a home has a file that matches a pattern, or after a
// delay.
type moment struct {
	step    string
	victims []string
	seen    string // whose home
	pattern string // "" for a random time
	delay   time.Duration
}

// moments returns the moments of a job, in order. The first job includes the fit.
func (r *registry) moments(first bool) (list []moment) {
	add := func(step, seen, pattern string, victims ...string) {
		delay := time.Duration(r.random.IntN(300)) * time.Millisecond
		list = append(list, moment{step, victims, seen, pattern, delay})
	}
	one := func() string { return hospitals[r.random.IntN(len(hospitals))] }
	a, b, c := one(), one(), one()
	if first {
		add("asked for the fit", a, "releases/fit-*.admitted", a)
		add("fitting", b, "releases/fit-*.released", b)
		add("fitting", a, "releases/fit-*.released", demo.Coordinator)
		add("at any time", c, "", c)
	}
	asked, out := "releases/"+string(r.kind)+"-*.admitted", "releases/"+string(r.kind)+"-*.released"
	add("asked for a job", b, asked, b)
	add("asked for a job", c, asked, demo.Coordinator)
	add("asked for a job", a, asked, r.Names()...)
	add("letting out", c, out, c)
	add("at any time", a, "", r.Names()[r.random.IntN(len(r.Names()))])
	return list
}

// wait waits for a moment until a job is over, and reports whether the moment came.
func (m moment) wait(came func() int, over <-chan struct{}) bool {
	if m.pattern == "" {
		select {
		case <-over:
		case <-time.After(m.delay):
		}
		return true
	}
	for came() == 0 {
		select {
		case <-over:
			return false
		case <-time.After(200 * time.Microsecond):
		}
	}
	return true
}

// killAt kills processes and starts them again. If an entry is still only admitted, its
// party has released nothing.
func (r *registry) killAt(m moment, came func() int) {
	for _, name := range m.victims {
		if err := r.Kill(name); err != nil {
			r.Error(err)
		}
		r.hit(m.step)
	}
	if strings.HasSuffix(m.pattern, "admitted") && came() > 0 {
		r.hit(m.step + ", and nothing is out")
	}
	time.Sleep(m.delay / 6)
	for _, name := range m.victims {
		if err := r.StartProcess(name); err != nil {
			r.Error(err)
		}
	}
}

// disturb kills processes at the moments of a job, once begin is closed.
func (r *registry) disturb(list []moment, begin, over <-chan struct{}) (quiet func()) {
	var running sync.WaitGroup
	var came []func() int
	for _, m := range list {
		came = append(came, r.since(m.seen, m.pattern))
	}
	running.Go(func() {
		select {
		case <-begin:
		case <-over:
			return
		}
		for i, m := range list {
			if m.wait(came[i], over) {
				r.killAt(m, came[i])
			}
		}
	})
	return running.Wait
}

// write writes a job's file.
func (r *registry) write(name string) (path string) {
	r.Helper()
	path = filepath.Join(r.Dir, name+".yaml")
	if err := os.WriteFile(path, r.file(name), 0o600); err != nil {
		r.Fatal(err)
	}
	return path
}

// submit submits a job.
func (r *registry) submit(name string) (id string) {
	r.Helper()
	var taken struct{ ID string }
	r.mustRun(&taken, "job", "submit", r.write(name), "--home", demo.Coordinator)
	return taken.ID
}

// submitKilled submits a job, and kills the coordinator when it has written some of the
// files. An accepted job is there afterwards; a missing one is submitted again.
func (r *registry) submitKilled(name string, killed func()) (id string) {
	r.Helper()
	m := moment{step: "submitting", victims: []string{demo.Coordinator}}
	made, files := r.since(demo.Coordinator, "jobs/*", "jobs/*/*"), r.random.IntN(4)
	var killing sync.WaitGroup
	killing.Go(func() {
		for deadline := time.Now().Add(5 * time.Second); made() < files && time.Now().Before(deadline); {
			time.Sleep(100 * time.Microsecond)
		}
		r.killAt(m, made)
		killed()
	})
	var taken struct{ ID string }
	exit := r.mercer(&taken, "job", "submit", r.write(name), "--home", demo.Coordinator)
	killing.Wait()
	there := r.named(name)
	switch {
	case exit != cli.Done && exit != cli.Failed:
		r.Fatalf("a submission ends with %d", exit)
	case exit == cli.Done && !slices.Equal(there, []string{taken.ID}) || len(there) > 1:
		r.Fatalf("job %q of name %s was accepted, and there are %v", taken.ID, name, there)
	case len(there) == 1:
		return there[0]
	}
	r.hit("submitting, in vain")
	return r.submit(name)
}

// listed is a job in the coordinator's list.
type listed struct{ ID, Name, State string }

// jobs waits until the coordinator answers.
func (r *registry) jobs() []listed {
	r.Helper()
	var list struct{ Jobs []listed }
	deadline := time.Now().Add(20 * time.Second)
	for r.mercer(&list, "job", "list", "--home", demo.Coordinator) != cli.Done {
		if time.Now().After(deadline) {
			r.Fatal("the coordinator does not answer")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return list.Jobs
}

// named returns the jobs with a name.
func (r *registry) named(name string) (ids []string) {
	r.Helper()
	for _, j := range r.jobs() {
		if j.Name == name {
			ids = append(ids, j.ID)
		}
	}
	return ids
}

// train runs a job to its end, and returns the hash of its model.
func (r *registry) train(name string, first bool) string {
	r.Helper()
	if r.random == nil {
		return r.result(r.submit(name))
	}
	begin, over := make(chan struct{}), make(chan struct{})
	quiet := r.disturb(r.moments(first), begin, over)
	defer quiet()
	defer close(over)
	return r.result(r.submitKilled(name, func() { close(begin) }))
}

// result waits for a job, and returns the hash of its model.
func (r *registry) result(id string) string {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Minute)
	defer cancel()
	result, _, err := r.Wait(ctx, id, nil)
	if err != nil {
		r.Fatalf("%v\n%s", err, r.Logs())
	}
	return result.ModelHash
}

// entry is an entry of a ledger without its ID, which follows from the ledger's own key,
// and without its day.
type entry struct {
	State   disclosure.State
	Kind    method.ReleaseKind
	Also    []method.ReleaseKind
	Job     string
	Peers   []string
	Columns int
	Rows    int
	Uses    int
	Told    float64
}

// ledger returns a home's releases, done and admitted, by job.
func (r *registry) ledger(home string) []entry {
	r.Helper()
	var list struct{ Releases []entry }
	r.mustRun(&list, "release", "list", "--home", home)
	slices.SortFunc(list.Releases, func(a, b entry) int { return strings.Compare(a.what(), b.what()) })
	return list.Releases
}

func (e entry) what() string { return e.Job + " " + string(e.Kind) }

// books holds the records of a federation.
type books struct {
	Models  []string
	Jobs    []listed
	Fits    []job.ID       // the job whose fit each later job uses, in the coordinator's records
	Values  map[string]int // number of different fitted values, in the entries of encoded rows
	Ledgers map[string][]entry
	Newest  map[string][2]int // rows of the newest edition, in training and held out
}

// seasons adds people twice, freezes all tables, and runs a job over them.
func (r *registry) seasons() *books {
	r.Helper()
	b := &books{Values: make(map[string]int), Ledgers: make(map[string][]entry), Newest: make(map[string][2]int)}
	for i, name := range []string{"first", "second"} {
		r.come(200)
		r.freeze()
		b.Models = append(b.Models, r.train(name, i == 0))
	}
	b.Jobs = r.jobs()
	for _, j := range b.Jobs[1:] {
		b.Fits = append(b.Fits, r.fitOf(j.ID))
	}
	for _, home := range hospitals {
		list := r.editions(home)
		newest := list[len(list)-1]
		b.Ledgers[home], b.Newest[home] = r.ledger(home), [2]int{newest.Training, newest.HeldOut}
		b.Values[home] = r.fitted(home)
	}
	return b
}

// fitOf returns the job whose fit another job uses.
func (r *registry) fitOf(id string) job.ID {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.Home(demo.Coordinator).Jobs(), id, "job.yaml"))
	if err != nil {
		r.Fatal(err)
	}
	spec, err := r.Reader.Parse("job.yaml", text)
	if err != nil {
		r.Fatal(err)
	}
	return spec.Data.Fit.Job
}

// fitted returns the number of different fits of a home's disclosed rows.
func (r *registry) fitted(home string) int {
	r.Helper()
	values := make(map[string]bool)
	for path := range r.matching(home, []string{"releases/*.released"}) {
		b, err := os.ReadFile(path)
		if err != nil {
			r.Fatal(err)
		}
		e, err := disclosure.DecodeEntry(b)
		if err != nil {
			r.Fatal(err)
		}
		if e.Fit.Values != "" {
			values[e.Fit.Values] = true
		}
	}
	return len(values)
}

// check checks the books: the fit is made once, and a job's releases are reported once.
func (b *books) check(t *testing.T, kind method.ReleaseKind) {
	t.Helper()
	var names []string
	for _, j := range b.Jobs {
		names = append(names, j.Name+" "+j.State)
	}
	if !slices.Equal(names, []string{"fit-registry done", "first done", "second done"}) {
		t.Fatalf("jobs %+v", b.Jobs)
	}
	for _, fit := range b.Fits {
		if fit.String() != b.Jobs[0].ID {
			t.Errorf("a job uses the fit of %v, and %s made the only one", fit, b.Jobs[0].ID)
		}
	}
	for home, list := range b.Ledgers {
		var out []string
		for _, e := range list {
			if e.State != disclosure.Released || e.Uses > 1 {
				t.Errorf("%s: %+v", home, e)
			}
			out = append(out, e.what())
		}
		if !slices.Equal(out, []string{"first " + string(kind), "fit-registry fit", "second " + string(kind)}) {
			t.Errorf("%s has let out %s", home, out)
		}
		if kind == method.ReleaseRows && b.Values[home] != 1 {
			t.Errorf("the rows of %s were prepared by %d fits", home, b.Values[home])
		}
	}
}

// giveUp kills a party with a job before it has released anything. Before it restarts, the
// coordinator's operator aborts the job, or its own operator revokes the dictionary: its
// ledger has nothing of the job, and the same job succeeds afterwards.
func (r *registry) giveUp(aborts bool) {
	r.Helper()
	r.come(200)
	r.freeze()
	name := hospitals[r.random.IntN(len(hospitals))]
	asked := r.since(name, "releases/"+string(r.kind)+"-*.admitted")
	id := r.submit("dropped")
	for asked() == 0 && r.Context().Err() == nil {
		time.Sleep(100 * time.Microsecond)
	}
	if err := r.Kill(name); err != nil {
		r.Fatal(err)
	}
	nothing := asked() > 0
	if aborts {
		r.mustRun(new(any), "job", "abort", id, "--home", demo.Coordinator)
	} else {
		r.mustRun(new(any), "federation", "dictionary", "revoke", "registry", "--home", name)
	}
	if err := r.StartProcess(name); err != nil {
		r.Fatal(err)
	}
	if nothing {
		r.hit("asked for a job that comes to nothing")
		r.fails(id, aborts)
		r.forgets(name, "dropped")
	}
	r.passes(name, aborts)
}

// fails waits for a job that is aborted or refused.
func (r *registry) fails(id string, aborts bool) {
	r.Helper()
	want := cli.Refused
	if aborts {
		want = cli.Failed
	}
	if exit := r.mercer(new(any), "job", "wait", id, "--home", demo.Coordinator); exit != want {
		r.Errorf("mercer job wait ends with %d, want %d", exit, want)
	}
}

// passes runs a job that failed before, and checks that each ledger is in order.
func (r *registry) passes(name string, aborted bool) {
	r.Helper()
	if !aborted {
		path := filepath.Join(r.Dir, "registry.yaml")
		if err := os.WriteFile(path, []byte(registryFile), 0o600); err != nil {
			r.Fatal(err)
		}
		r.mustRun(new(any), "federation", "dictionary", "approve", path, "--home", name, "--yes")
	}
	r.result(r.submit("again"))
	for _, home := range hospitals {
		for _, e := range r.ledger(home) {
			if e.State != disclosure.Released {
				r.Errorf("%s still has %+v", home, e)
			}
		}
	}
}

// forgets waits until a ledger has nothing of a job.
func (r *registry) forgets(home, name string) {
	r.Helper()
	has := func(e entry) bool { return e.Job == name }
	deadline := time.Now().Add(10 * time.Second)
	for slices.ContainsFunc(r.ledger(home), has) {
		if time.Now().After(deadline) {
			r.Fatalf("%s still has %+v", home, r.ledger(home))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// steps lists the steps in which a process is killed at least once.
var steps = []string{
	"freezing, and some of the edition is there", "freezing, and the edition is there", "submitting",
	"asked for the fit, and nothing is out", "fitting", "asked for a job, and nothing is out", "letting out",
	"asked for a job that comes to nothing", "at any time",
}

// Homes whose processes are killed while they freeze a table, fit a dictionary or receive a
// job end with the models, editions and ledgers of an undisturbed federation.
func TestKilledHomesKeepTheirBooks(t *testing.T) {
	kills := make(map[string]int)
	for _, kind := range []method.ReleaseKind{method.ReleaseRows, method.ReleaseSums} {
		want := foundRegistry(t, kind, nil).seasons()
		want.check(t, kind)
		for run := range 2 {
			t.Run(fmt.Sprint(kind, run), func(t *testing.T) {
				r := foundRegistry(t, kind, rand.New(rand.NewPCG(uint64(run), 2)))
				got := r.seasons()
				got.check(t, kind)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("undisturbed (-), killed (+):\n%s", diff)
				}
				r.giveUp(run%2 == 0)
				for step, n := range r.kills {
					kills[step] += n
				}
			})
		}
	}
	for _, step := range slices.Sorted(maps.Keys(kills)) {
		t.Logf("%3d killed while %s", kills[step], step)
	}
	for _, step := range steps {
		if kills[step] == 0 && !t.Failed() {
			t.Errorf("no process was killed while %s", step)
		}
	}
}

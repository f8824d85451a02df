package onerow_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/cli"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/demo"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// withFakes returns a reader of jobs of all methods and learners of the program, and of one
// more each.
func withFakes() *job.Reader {
	r := all.Reader()
	r.Protocols, r.Learners = append(r.Protocols, census), append(r.Learners, Nearest{})
	return r
}

// isMercer makes the test binary act as mercer, with the fake beside the methods.
const isMercer = "MERCER_ONE_ROW"

func TestMain(m *testing.M) {
	if os.Getenv(isMercer) != "" {
		os.Exit(cli.Main(withFakes(), nil, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	disktest.InMemory()
	os.Exit(m.Run())
}

// counted by censuses: north has two of three rows of class ill, south one of three.
const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: headcount}
spec:
  data:
    sources: {north: north.csv, south: south.csv}
    label: state
    scale: none
  protocol: {name: census, quorum: 3}
  kernel: {name: linear}
  learner: {name: svc}
  prediction: open
`

func tables() map[string]string {
	rows := func(classes ...string) string {
		var b strings.Builder
		b.WriteString("age,state\n")
		for i, class := range classes {
			fmt.Fprintf(&b, "%d,%s\n", 30+i, class)
		}
		return b.String()
	}
	return map[string]string{
		"north.csv": rows("ill", "ill", "well", "ill"), "south.csv": rows("well", "ill", "well", "ill"), "new.csv": "age\n33\n34\n",
	}
}

// A method is one entry of the list that a program passes to its commands, daemons and
// simulations: a fake one, in a separate file, runs from job to model.
func TestAMethodIsOneRow(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Run("parse", parses)
	t.Run("reference", isDocumented)
	t.Run("plan", isPlanned)
	t.Run("policy", isBounded)
	t.Run("simulate, text, page", isSimulated)
	t.Run("daemons, kill, resume, retained state, predict", survives)
}

// parse parses a job of the fake, or returns its refusal.
func parse(old, replacement string) (*job.Job, error) {
	return withFakes().Parse("job.yaml", []byte(strings.Replace(file, old, replacement, 1)))
}

func parses(t *testing.T) {
	j, err := parse("", "")
	if err != nil {
		t.Fatal(err)
	}
	if k := job.As[*CensusKeys](j.Protocol); k.Quorum != 3 || k.Bound != 500 || k.Mode != job.Hardened {
		t.Errorf("settings %+v", k)
	}
	again, err := withFakes().Parse("again.yaml", j.Encode())
	if err != nil || again.Hash() != j.Hash() {
		t.Errorf("the canonical file is another job: %v\n%s", err, j.Encode())
	}
	for bad, want := range map[string]string{
		"census, quorm: 3":   `unknown key "quorm" in protocol; did you mean "quorum"?`,
		"census, encoder: x": "protocol census has no encoder; remove it",
		"okra, quorum: 3":    "protocol okra has no quorum; remove it",
		"censsus":            `unknown protocol "censsus"; did you mean "census"?`,
		"census, quorum: 0":  "quorum is 0; write a whole number from 1",
	} {
		if _, err := parse("census, quorum: 3", bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
	if _, err := parse("name: svc", "name: svc, C: [1, 10]"); err == nil || !strings.Contains(err.Error(), "grid of 2 cells") {
		t.Errorf("a grid without folds: %v", err)
	}
}

func isDocumented(t *testing.T) {
	for _, f := range (census).New().Section().Fields {
		if f.Doc == "" || f.Value.Form() == "" {
			t.Errorf("key %s is not documented", f.Key)
		}
	}
	if names := withFakes().Known().Protocols; names[len(names)-1] != "census" {
		t.Errorf("known are %v", names)
	}
}

func isPlanned(t *testing.T) {
	j, err := parse("", "")
	if err != nil {
		t.Fatal(err)
	}
	c := method.Instance{Job: j, ID: job.ID{1}, Coordinator: "hub", Parties: []string{"north", "south"}}
	plan, err := census.Plan(c)
	if err != nil || len(plan) != 3 {
		t.Fatalf("%d steps, %v", len(plan), err)
	}
	for _, parties := range [][]string{{"north"}, {"north", "hub"}} {
		c.Parties = parties
		if _, err := census.Plan(c); err == nil {
			t.Errorf("a plan for %v", parties)
		}
	}
	if _, err := plan[0].Session.After(nil, []byte("x")); err == nil {
		t.Error("something is announced of a session that the job says all of")
	}
	if _, err := plan[2].Session.After(nil, nil); err == nil {
		t.Error("a session follows from nothing")
	}
	if s, err := plan[2].Session.After(counted{"ill": 2}, nil); err != nil || len(s.Params) == 0 {
		t.Errorf("the last session: %+v, %v", s, err)
	}
}

func isBounded(t *testing.T) {
	j, err := parse("", "")
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]party.Policy{
		"": {Protocols: []string{"census"}, OpenPrediction: true},
		`protocol "census" is not among those this party allows`: {Protocols: []string{"okra"}, OpenPrediction: true},
		"the job has 500 directions, this party allows 100":      {Protocols: []string{"census"}, OpenPrediction: true, Limits: party.PolicyLimits{MaxDirections: 100}},
		"the job keeps predictions open":                         {Protocols: []string{"census"}},
	} {
		switch err := p.Check(j, 2); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.HasPrefix(err.Error(), want) || fault.CodeOf(err) != fault.CodePolicy):
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (party.Policy{Protocols: []string{"census"}}).Validate(withFakes().Known()); err != nil {
		t.Errorf("a policy that names it: %v", err)
	}
}

// mercer runs a command in a folder and returns what it prints.
func mercer(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), isMercer+"=yes")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

func isSimulated(t *testing.T) {
	dir := t.TempDir()
	for name, text := range tables() {
		write(t, dir, name, text)
	}
	write(t, dir, "job.yaml", file)
	said := mercer(t, dir, "simulate", "job.yaml", "--out", "out", "--verbose")
	page, err := os.ReadFile(filepath.Join(dir, "out", "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := os.ReadFile(filepath.Join(dir, "out", "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"ill is the most frequent of 2 classes": said, "together, by Mercer": said, "census 0.": said,
		"learns how many rows of each class": said, "model of north": said,
		`<th scope="row">Census</th><td>ill is the most frequent of 2 classes`: string(page), "census, mode = hardened, quorum = 3, bound = 500": string(page),
		`"census": {`: string(result),
	} {
		if !strings.Contains(text, what) {
			t.Errorf("%q is nowhere in\n%s", what, text)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// survives kills the coordinator while it computes, between two sessions: the rest of the
// run gives the model of an undisturbed run, and answers prediction queries.
func survives(t *testing.T) {
	t.Setenv(isMercer, "yes")
	t.Setenv(slow, "1500ms")
	j, err := parse("", "")
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := run(t, j, tables(), "learn", func(*demo.Federation) {})
	got, f, id := run(t, j, tables(), "learn", restart(t))
	if got != want {
		t.Errorf("model %s after a crash, %s without\n%s", got, want, f.Logs())
	}
	said := mercer(t, f.Dir, "job", "show", id, "--verbose", "--home", f.Home(demo.Coordinator).String())
	if !strings.Contains(said, "ill is the most frequent of 2 classes") {
		t.Errorf("the coordinator shows\n%s", said)
	}
	write(t, f.Dir, "new.csv", tables()["new.csv"])
	said = mercer(t, f.Dir, "predict", "--job", id, "--home", f.Home("south").String(), "new.csv", "--label", "none", "--json")
	if strings.Count(said, `"ill"`) < 2 {
		t.Errorf("predicted\n%s", said)
	}
}

// restart kills the coordinator and starts it again.
func restart(t *testing.T) func(*demo.Federation) {
	return func(f *demo.Federation) {
		if err := f.Kill(demo.Coordinator); err != nil {
			t.Error(err)
		}
		if err := f.StartProcess(demo.Coordinator); err != nil {
			t.Error(err)
		}
	}
}

// run runs a job over tables between processes; disturb is called while the coordinator
// computes a step.
func run(t *testing.T, j *job.Job, files map[string]string, step string, disturb func(*demo.Federation)) (model string, f *demo.Federation, id string) {
	t.Helper()
	shares, err := partition.Shares(j, func(s job.Source, d job.Data) (*dataset.Set, error) {
		return dataset.ReadCSV(strings.NewReader(files[s.File]), dataset.CSVOptions{Header: dataset.WithHeader, Label: d.Label})
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mercer") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(5)
	f, err = demo.Found(demo.Config{Reader: withFakes(), Program: []string{os.Args[0]}, Job: j, Shares: shares, Dir: dir, InsecureSeed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := f.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if id, err = f.Submit(ctx, f.Job); err != nil {
		t.Fatal(err)
	}
	once := false
	r, _, err := f.Wait(ctx, id, func(j admin.Job) {
		if j.Stage == step && !once {
			once = true
			disturb(f)
		}
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Logs())
	}
	if !once {
		t.Error("nobody has seen the coordinator compute")
	}
	return r.ModelHash, f, id
}

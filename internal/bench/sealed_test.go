package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/examples"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/protocol"
)

var fewSealed = SealedSize{Rows: 301, Features: 8, Targets: 2}

func sealedSessionOf(t *testing.T, size SealedSize) *sealedSession {
	t.Helper()
	s, err := newSealedSession(size)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// deployedSealedOf is the example of digits with a few features.
func deployedSealedOf(t *testing.T) Benchmark {
	t.Helper()
	reader := all.Reader().Knowing(func(name, _ string) (*job.Dictionary, error) {
		text, err := examples.Read(name)
		if err != nil {
			return nil, err
		}
		return job.ParseDictionary(name, text)
	})
	text, err := examples.Read("sealed-digits")
	if err != nil {
		t.Fatal(err)
	}
	j, err := reader.Parse("sealed-digits.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = reader.With(j, map[string]string{"protocol.features": "16"}); err != nil {
		t.Fatal(err)
	}
	load := func(_ job.Source, d job.Data) (*dataset.Set, error) {
		set, err := bundled.Load("digits")
		if err != nil {
			return nil, err
		}
		return d.Pick(set), nil
	}
	return DeployedSealed(reader, j, load, []string{os.Args[0]}, t.TempDir())
}

// valuesOf are the values of rows by name.
func valuesOf(rows []Row) map[string]float64 {
	values := make(map[string]float64)
	for _, r := range rows {
		values[r.Name] = r.Value
	}
	return values
}

// Each keeper works in each stage, and its parts and bytes add up to those of all.
func TestSealedCountsEachKeeper(t *testing.T) {
	s := sealedSessionOf(t, fewSealed)
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := valuesOf(s.figures())
	cpu, bytes := 0.0, 0.0
	for i, role := range sealedRoles {
		for _, stage := range []string{"uploads", "computation", "check"} {
			v := got[role+", "+stage]
			if v <= 0 {
				t.Errorf("%s: %s takes %v s", role, stage, v)
			}
			cpu += v
		}
		if sent, stated := got[role+", bytes sent"], float64(s.sentBy(sealedKeepers[i]))/1e6; sent != stated || sent == 0 {
			t.Errorf("%s sends %v, and the protocol states %v", role, sent, stated)
		}
		bytes += got[role+", bytes sent"]
	}
	whole, chain := got["three keepers, 301 rows, 8 x 2"], got["messages in a row"]
	if math.Abs(whole-cpu) > 1e-9 || math.Abs(got["bytes between keepers"]-bytes) > 1e-9 || chain != float64(s.cost.Rounds) {
		t.Errorf("the keepers take %v s and send %v MB, in all %v", cpu, bytes, got)
	}
	if wall := got["time at 20 ms a message, computed"]; math.Abs(wall-(chain*.02+whole)) > 1e-9 {
		t.Errorf("%v s over a link", wall)
	}
}

// sentBy are the bytes that a keeper sends by the protocol's statement.
func (s *sealedSession) sentBy(name string) (bytes int64) {
	for _, f := range s.cost.Flows {
		if f.From == name {
			bytes += f.Bytes
		}
	}
	return bytes
}

// A keeper's own upload is part of its work, although its machine makes it before the first step.
func TestSealedCountsTheOwnUpload(t *testing.T) {
	s, turn := sealedSessionOf(t, SealedSize{Rows: 301, Features: 64, Targets: 2}), sealedTurn{work: make(map[string]*stages)}
	if _, err := s.node(t.Context(), &turn, "north", 1); err != nil || turn.work["north"].uploads <= 0 {
		t.Errorf("%+v, %v", turn.work["north"], err)
	}
}

// Of several turns the one with the least processor time counts, as a whole.
func TestSealedKeepsTheBestTurn(t *testing.T) {
	s := sealedSessionOf(t, fewSealed)
	least := sealedTurn{work: map[string]*stages{"north": {check: 1e-9}}}
	for _, c := range []struct {
		before sealedTurn
		stays  bool
	}{{least, true}, {sealedTurn{work: map[string]*stages{"north": {computation: 1e9}}}, false}} {
		s.best = c.before
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if stays := s.best.work["north"] == c.before.work["north"]; stays != c.stays {
			t.Errorf("%v s stay: %v", c.before.total(), stays)
		}
	}
}

// The project's promises are those of the digits.
func TestSealedTargets(t *testing.T) {
	targets := func(size SealedSize) map[string]float64 {
		s := sealedSessionOf(t, size)
		s.keep(sealedTurn{work: map[string]*stages{"north": {9, 0, 0}, "south": {}, "east": {}}, longest: stages{.1, .09, .11}})
		list := make(map[string]float64)
		for _, r := range s.figures() {
			if r.Target != nil {
				list[r.Name] = *r.Target
				if late := strings.HasPrefix(r.Name, "three") || strings.HasSuffix(r.Name, "check"); r.Missed() != late {
					t.Errorf("%s is missed: %v", r.Name, r.Missed())
				}
			}
		}
		return list
	}
	want := map[string]float64{"three keepers, 1347 rows, 512 x 10": 8, "messages in a row": 100}
	for _, stage := range []string{"uploads", "computation", "check"} {
		want["longest step of the "+stage] = 100
	}
	if d := cmp.Diff(want, targets(DigitsSealed)); d != "" {
		t.Error(d)
	}
	if got := targets(fewSealed); len(got) > 0 {
		t.Errorf("targets of another size: %v", got)
	}
}

// A session with other messages than the protocol states is no measurement.
func TestSealedComparesTheBytes(t *testing.T) {
	s := sealedSessionOf(t, fewSealed)
	s.cost.Flows[0].Bytes++
	if err := s.run(t.Context()); err == nil || !strings.Contains(err.Error(), "the protocol's formula gives") {
		t.Errorf("one byte more is stated: %v", err)
	}
}

func TestSealedIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sealedSessionOf(t, fewSealed).run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// busy is a machine whose steps take some time and report a stage.
type busy struct{ stage string }

func (b *busy) Step(protocol.Event) (protocol.Effects, error) {
	for before := cpuSeconds(); cpuSeconds() < before+.003; {
		continue
	}
	return protocol.Effects{Progress: protocol.Progress{Stage: b.stage}}, nil
}

// The time of a step is that of the stage in which it ends, and without one of the stage before. The longest counts.
func TestStagesAreToldApart(t *testing.T) {
	b, spent, longest := new(busy), new(stages), &stages{check: 9}
	m := &stagedMeter{Machine: b, stopped: func() error { return nil }, spent: spent, longest: longest}
	for _, c := range []struct {
		stage string
		grows *float64
	}{{"", &spent.uploads}, {"uploads", &spent.uploads}, {"steps", &spent.computation}, {"check", &spent.check}, {"", &spent.check}} {
		b.stage = c.stage
		before, all := *c.grows, spent.total()
		if _, err := m.Step(protocol.Resumed{}); err != nil {
			t.Fatal(err)
		}
		if grew := *c.grows - before; grew < .003 || math.Abs(spent.total()-all-grew) > 1e-9 {
			t.Errorf("after a step that reports %q the stages are %+v", c.stage, *spent)
		}
	}
	if l := *longest; l.check != 9 || l.uploads < .003 || l.computation < .003 {
		t.Errorf("the longest steps are %+v", l)
	}
}

// The longest steps are those of the turn in which they are shortest.
func TestSealedKeepsTheShorterSteps(t *testing.T) {
	s := &sealedSession{size: fewSealed, problem: sealedSessionOf(t, fewSealed).problem}
	for _, l := range []stages{{.5, .2, .4}, {.3, .6, .4}} {
		s.keep(sealedTurn{work: map[string]*stages{"north": {}, "south": {}, "east": {}}, longest: l})
	}
	got := valuesOf(s.figures())
	for name, want := range map[string]float64{"longest step of the uploads": 300, "longest step of the computation": 200, "longest step of the check": 400} {
		if got[name] != want {
			t.Errorf("%s: %v ms, want %v", name, got[name], want)
		}
	}
}

func TestSealedSizes(t *testing.T) {
	for size, ok := range map[SealedSize]bool{
		DigitsSealed: true, {300, 1, 1}: true, {299, 1, 1}: false, {300, 0, 1}: false, {300, 1, 0}: false, {1<<20 + 1, 1, 1}: false,
	} {
		if err := size.Check(); (err == nil) != ok {
			t.Errorf("%v: %v", size, err)
		}
	}
	if d := cmp.Diff([]int{100, 100, 101}, fewSealed.shares()); d != "" {
		t.Error(d)
	}
	one, two := &sealedSession{size: SealedSize{300, 1, 1}}, &sealedSession{size: fewSealed}
	if d := cmp.Diff([]float64{1, -1, 1}, one.targets(3).Data); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]float64{1, 0, 1, 0, 1, 0}, two.targets(3).Data); d != "" {
		t.Error(d)
	}
}

// pretender is a Python whose module spu takes less time at each turn up to the second.
const pretender = `#!/bin/sh
cat > /dev/null
case "$*" in
"- spu") echo '{"version": "0"}' ;;
"- spu 301 8 2 100") echo >> TURNS; case $(wc -l < TURNS) in 2) cpu=3;; *) cpu=5;; esac; echo "{\"cpu\": $cpu, \"wall\": 7, \"off\": 0.5}" ;;
*) exit 1 ;;
esac
`

// SPU computes the same size, and its shortest turn counts.
func TestSealedPeer(t *testing.T) {
	python := filepath.Join(t.TempDir(), "python")
	script := strings.ReplaceAll(pretender, "TURNS", filepath.Join(filepath.Dir(python), "turns"))
	if err := os.WriteFile(python, []byte(script), 0o700); err != nil { //nolint:gosec // a program of this test
		t.Fatal(err)
	}
	r, err := Sealed(fewSealed, FindSealedPeer(python)).Measure(t.Context(), 3, func(int, int) {})
	if err != nil || len(r.Notes) > 0 {
		t.Fatal(err, r.Notes)
	}
	checkRows(t, r.Rows)
	got := valuesOf(r.Rows)
	const what = "spu (ABY3), 301 rows, 8 x 2, 100 steps without a check: "
	for name, want := range map[string]float64{"processor time": 3, "wall time": 7, "largest error, relative": .5} {
		if got[what+name] != want {
			t.Errorf("%s: %v, want %v", name, got[what+name], want)
		}
	}
}

// Without SPU the rest is measured, and a note says how to install it.
func TestSealedPeerIsMissing(t *testing.T) {
	r, err := Sealed(fewSealed, FindSealedPeer(filepath.Join(t.TempDir(), "none"))).Measure(t.Context(), 1, func(int, int) {})
	if err != nil || len(r.Rows) == 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "pip install spu") {
		t.Errorf("%d rows, notes %q, %v", len(r.Rows), r.Notes, err)
	}
}

// The shortest turn gives the times, without those before the job, and all turns the memory.
func TestDeployedSealedKeepsTheLargestMemory(t *testing.T) {
	of := func(cpu, peak float64) map[string]spent { return map[string]spent{"north": {peak: peak, cpu: cpu}} }
	d := new(deployedSealed)
	for _, c := range []struct{ wall, cpu, peak, wantWall, wantCPU, wantPeak float64 }{
		{9, 5, 70, 9, 4, 70}, {8, 6, 60, 8, 5, 70}, {10, 2, 90, 8, 5, 90},
	} {
		d.keep(c.wall, of(1, 50), of(c.cpu, c.peak))
		if got := d.spent["north"]; d.wall != c.wantWall || got.cpu != c.wantCPU || got.peak != c.wantPeak {
			t.Errorf("after %+v: %v s, %+v", c, d.wall, got)
		}
	}
}

// Each process has its memory and its time.
func TestDeployedSealedNamesEachProcess(t *testing.T) {
	d := &deployedSealed{names: []string{"coordinator", "north"}, wall: 4, spent: map[string]spent{"coordinator": {peak: 121e6, cpu: 1}, "north": {peak: 120e6, cpu: 2}}}
	want := map[string]float64{
		"time of the job": 4, "all processes": 3, "coordinator: largest memory": 121, "north: largest memory": 120,
		"coordinator: processor time of the job": 1, "north: processor time of the job": 2,
	}
	rows := d.figures()
	if diff := cmp.Diff(want, valuesOf(rows)); diff != "" {
		t.Error(diff)
	}
	if missed := fmt.Sprint((Result{Rows: rows}).Missed()); missed != "[coordinator: largest memory]" {
		t.Errorf("missed: %s", missed)
	}
}

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gridJob is a job of six cells, with the values of C that the test gives.
const gridJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: cells}
spec:
  data: {source: bundled:digits, label: label, partition: {by: rows, parties: [north, south]}, folds: 3, test: none}
  protocol: {name: okra}
  kernel: {name: rbf, gamma: [0.0005, 0.001]}
  learner: {name: svc, C: [%s]}
  compare: []
`

// simulation is a running simulate whose cells other processes may compute.
type simulation struct {
	t      *testing.T
	folder string // of cells
	out    bytes.Buffer
	cmd    *exec.Cmd
}

// gridResult is the part of a result that must not depend on who computes cells.
type gridResult struct {
	Result struct {
		Grid    json.RawMessage `json:"grid"`
		Model   string          `json:"model_sha256"`
		Outside *struct{ Offered, Taken int }
		Leakage map[string][]string `json:"leakage"`
	} `json:"result"`
}

// simulateGrid starts a simulation of a grid with the given number of settings.
func simulateGrid(t *testing.T, settings int, flags ...string) *simulation {
	t.Helper()
	if testing.Short() {
		t.Skip("trains")
	}
	dir := t.TempDir()
	s := &simulation{t: t, folder: filepath.Join(dir, "cells")}
	values := make([]string, settings)
	for i := range values {
		values[i] = strconv.FormatFloat(float64(i+1)/16, 'g', -1, 64)
	}
	if err := os.Mkdir(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "job.yaml"), fmt.Appendf(nil, gridJob, strings.Join(values, ", ")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command("mercer", append([]string{"simulate", "job.yaml", "--insecure-seed", "5", "--json"}, flags...)...)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, &s.out, t.Output()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	return s
}

// offered starts a simulation that offers its cells, and returns their names when it does.
func offered(t *testing.T, settings int) (*simulation, []string) {
	t.Helper()
	s := simulateGrid(t, settings, "--cells", "cells", "--cells-wait", "60s")
	for range 600 {
		if _, err := os.Stat(filepath.Join(s.folder, "inputs")); err == nil {
			return s, s.missing()
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no inputs")
	return nil, nil
}

// result waits for the simulation's end.
func (s *simulation) result() (r gridResult) {
	s.t.Helper()
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("%v: %s", err, s.out.String())
	}
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *simulation) missing() []string {
	s.t.Helper()
	out, err := exec.Command("mercer", "cell", "--list", s.folder).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// cell returns a command that computes a cell. Its stdin is /dev/null, as that of a child of xargs.
func (s *simulation) cell(name string) *exec.Cmd {
	cmd := exec.Command("mercer", "cell", s.folder, name)
	cmd.Stderr = s.t.Output()
	return cmd
}

// inWork waits until a process computes a cell.
func (s *simulation) inWork(name string) {
	s.t.Helper()
	for range 1000 {
		if _, err := os.Stat(filepath.Join(s.folder, name+".lock")); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("no process began the cell")
}

// Cells computed by two children give the bits of one process. A killed child costs its own cell, which
// the next child computes.
func TestGridByChildren(t *testing.T) {
	want := simulateGrid(t, 5).result()
	s, names := offered(t, 5)
	if len(names) != 6 {
		t.Fatalf("%d cells", len(names))
	}
	killed := s.cell(names[0])
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	s.inWork(names[0])
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil {
		t.Fatal("the child ended before it was killed; give the job more settings")
	}
	if left := s.missing(); !slices.Equal(left, names) {
		t.Fatalf("missing after the kill: %v", left)
	}
	var two sync.WaitGroup
	for i := range 2 {
		two.Go(func() {
			for _, name := range names[3*i : 3*i+3] {
				if out, err := s.cell(name).Output(); err != nil || string(out) != "computed "+name+"\n" {
					t.Errorf("%s: %q, %v", name, out, err)
				}
			}
		})
	}
	two.Wait()
	got := s.result()
	if got.Result.Model != want.Result.Model || !bytes.Equal(got.Result.Grid, want.Result.Grid) {
		t.Errorf("the grid or the model differs from one process's: %s, %s", got.Result.Model, want.Result.Model)
	}
	server := strings.Join(got.Result.Leakage["server"], "\n")
	if !strings.Contains(server, "offered 6 cells of the cross-validation, each one kernel on one fold, to other processes, and took the results of 6.") {
		t.Errorf("leakage: %s", server)
	}
	if strings.Contains(strings.Join(want.Result.Leakage["server"], "\n"), "cells of the cross-validation") {
		t.Error("the leakage of one process names cells")
	}
	if entries, err := os.ReadDir(s.folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder keeps %v, %v", entries, err)
	}
}

// A child ends when its stdin does, if that is a pipe, and when its parent is killed.
func TestCellEndsWithItsParent(t *testing.T) {
	s, names := offered(t, 500)

	byStdin := s.cell(names[0])
	stdin, err := byStdin.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := byStdin.Start(); err != nil {
		t.Fatal(err)
	}
	s.inWork(names[0])
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := byStdin.Wait(); err == nil {
		t.Error("the child whose stdin ended computed its cell; give the job more settings")
	}

	shell := exec.Command("sh", "-c", `mercer cell "$0" "$1" </dev/null & echo $!; wait`, s.folder, names[1])
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	s.inWork(names[1])
	if !running(child) {
		t.Fatal("the shell's child does not run")
	}
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait()
	for end := time.Now().Add(20 * time.Second); running(child); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d runs after its parent was killed", child)
		}
	}
	if left := s.missing(); !slices.Equal(left, names) {
		t.Errorf("an ended child left a result: missing %v", left)
	}
}

// running reports whether a process runs. A process that has ended, and that nobody has waited for,
// does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		_, here := os.Stat("/proc/self/stat")
		return here != nil // without /proc, the signal alone says it
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

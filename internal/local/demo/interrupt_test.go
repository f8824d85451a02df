package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demonstration is a running "mercer demo --json" with its own temporary folder and folder
// of results.
type demonstration struct {
	cmd       *exec.Cmd
	temp, out string
	document  bytes.Buffer
	ended     chan error
}

func demonstrate(t *testing.T) *demonstration {
	t.Helper()
	temp, err := os.MkdirTemp("", "mercer") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	d := &demonstration{temp: temp, out: filepath.Join(t.TempDir(), "results"), ended: make(chan error, 1)}
	d.cmd = exec.Command(os.Args[0], "demo", "--json", "--out", d.out)
	d.cmd.Env = append(os.Environ(), beMercer+"=yes", "TMPDIR="+temp)
	d.cmd.Stdout = &d.document
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a group of its own, as in a shell
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { defer close(gone); d.ended <- d.cmd.Wait() }()
	t.Cleanup(func() {
		if err := d.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		<-gone
		if err := os.RemoveAll(temp); err != nil {
			t.Error(err)
		}
	})
	return d
}

// appears waits for a file of the federation.
func (d *demonstration) appears(t *testing.T, pattern string) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(time.Millisecond) {
		found, err := filepath.Glob(filepath.Join(d.temp, "mercer-demo-*", pattern))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return found[0]
		}
	}
	t.Fatalf("no %s after 20 s: %s", pattern, d.document.Bytes())
	return ""
}

// complaint returns the error with which the demonstration ends.
func (d *demonstration) complaint(t *testing.T, within time.Duration) (code, message string) {
	t.Helper()
	var exit *exec.ExitError
	select {
	case err := <-d.ended:
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Fatalf("ended with %v, want exit code 1: %s", err, d.document.Bytes())
		}
	case <-time.After(within):
		t.Fatalf("has not ended within %v", within)
	}
	var doc struct {
		OK    bool
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal(d.document.Bytes(), &doc); err != nil || doc.OK {
		t.Fatalf("%v in %s", err, d.document.Bytes())
	}
	return doc.Error.Code, doc.Error.Message
}

// nothingLeft checks that no process, no home and no result is left.
func (d *demonstration) nothingLeft(t *testing.T) {
	t.Helper()
	if left, err := os.ReadDir(d.temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v %v", left, err)
	}
	if _, err := os.Stat(d.out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left in the folder of the results: %v", err)
	}
	if list := d.processes(t); len(list) > 0 {
		t.Errorf("still running: %v", list)
	}
}

// processes returns the daemons of the demonstration, by their homes, as ids of processes
// with their command lines.
func (d *demonstration) processes(t *testing.T) map[int]string {
	t.Helper()
	all, err := exec.Command("ps", "-A", "-o", "pid=,args=").Output()
	if err != nil {
		t.Skipf("no ps on this machine: %v", err)
	}
	list := make(map[int]string)
	for line := range strings.Lines(string(all)) {
		pid, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id, err := strconv.Atoi(pid); err == nil && strings.Contains(args, "--home "+d.temp) {
			list[id] = args
		}
	}
	return list
}

// Ctrl-C at any time ends the demonstration and everything that belongs to it.
func TestInterruptedDemoLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	// Under nohup SIGHUP is ignored, here and in processes started from here; a signal with
	// a listener is not.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for _, c := range []struct {
		when, file string
		signal     syscall.Signal
	}{
		{"while the homes are made", "coordinator/identity", syscall.SIGINT},
		{"while the processes start", "coordinator.log", syscall.SIGINT},
		{"when the coordinator is up", "coordinator/control.sock", syscall.SIGINT},
		{"when the job is submitted", "coordinator/jobs/*/status.json", syscall.SIGINT},
		{"while the parties take part", "east/vault/journals/session/*", syscall.SIGINT},
		{"told to stop", "east/vault/journals/session/*", syscall.SIGTERM},
		{"the terminal is closed", "north/vault/journals/session/*", syscall.SIGHUP},
	} {
		t.Run(c.when, func(t *testing.T) {
			d := demonstrate(t)
			d.appears(t, c.file)
			// Like a terminal: to the whole group of processes.
			if err := syscall.Kill(-d.cmd.Process.Pid, c.signal); err != nil {
				t.Fatal(err)
			}
			if code, message := d.complaint(t, 8*time.Second); code != "interrupted" || message != "interrupted" {
				t.Errorf("%s: %s", code, message)
			}
			d.nothingLeft(t)
		})
	}
}

// kill -9 of the demonstration itself leaves its folder, but no process.
func TestKilledDemoLeavesNoProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	d := demonstrate(t)
	d.appears(t, "east/vault/journals/session/*")
	if n := len(d.processes(t)); n != 4 {
		t.Fatalf("%d daemons run, want 4", n)
	}
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for len(d.processes(t)) > 0 {
		if time.Since(began) > 8*time.Second {
			t.Fatalf("still running after 8 s: %v", d.processes(t))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// A process that dies ends the demonstration, which leaves the same remains as after
// Ctrl-C.
func TestDemoNamesAProcessThatDied(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	d := demonstrate(t)
	d.appears(t, "coordinator/jobs/*/status.json")
	var victim int
	for id, args := range d.processes(t) {
		if strings.HasSuffix(args, "/south") {
			victim = id
		}
	}
	if victim == 0 {
		t.Fatal("south does not run")
	}
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	code, message := d.complaint(t, 8*time.Second)
	const want = "demo: the process of south ended early (signal: killed); its last lines: "
	if code != "failed" || !strings.HasPrefix(message, want) {
		t.Errorf("%s: %s, want %s", code, message, want)
	}
	d.nothingLeft(t)
}

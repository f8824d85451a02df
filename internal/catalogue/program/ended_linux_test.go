package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// running reports whether a process is there and no zombie.
func running(t *testing.T, pidFile string) bool {
	t.Helper()
	pid, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(string(pid))))
	if err != nil {
		return false
	}
	return !strings.Contains(string(stat), ") Z ")
}

// What a program has started ends with it, in another session and with another parent too.
func TestAttackChildThatLeavesItsGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	// the child writes its pid, and lives on without its parents
	const child = `setsid sh -c 'sh -c "echo \$\$ > left; exec sleep 300" &' >/dev/null %s; while [ ! -s left ]; do sleep .01; done; `
	for _, tt := range []struct{ name, stderr, then, want string }{
		{"timeout", "2>&1", "sleep 300", "did not finish within 1s"},
		{"timeout of a child that could speak", "", "sleep 300", "did not finish within 1s"},
		{"end", "2>&1", "echo x", ""},
		{"failure", "2>&1", "exit 3", "exit status 3"},
		{"bytes", "2>&1", "yes", "writes more than 1000 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := script(t, fmt.Sprintf(child, tt.stderr)+tt.then)
			c.Timeout = time.Second
			began := time.Now()
			_, err := output(t, c)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v", err)
			}
			if running(t, filepath.Join(c.Folder, "left")) {
				t.Error("the child lives on")
			}
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// Another program's child is left alone.
func TestOnlyOwnChildrenEnd(t *testing.T) {
	other := exec.Command("sleep", "300")
	other.Env = append(os.Environ(), newMark())
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = other.Process.Kill(), other.Wait() }()
	if _, err := output(t, script(t, "echo x")); err != nil {
		t.Fatal(err)
	}
	if !endMarked(newMark()) {
		t.Error("nothing is marked, and something is left")
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", other.Process.Pid)); err != nil || strings.Contains(string(stat), ") Z ") {
		t.Errorf("it was ended: %v", err)
	}
}

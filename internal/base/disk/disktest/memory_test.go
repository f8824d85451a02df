package disktest

import (
	"os"
	"testing"
)

// Folders follow TMPDIR, and are in memory only without it.
func TestInMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	own := os.TempDir()
	if InMemory(); os.TempDir() != own {
		t.Errorf("folders in %s, and TMPDIR was %s", os.TempDir(), own)
	}
	t.Setenv("TMPDIR", "")
	InMemory()
	if now := os.TempDir(); now != memory && now != "/tmp" {
		t.Errorf("folders in %s", now)
	}
	if os.TempDir() == memory && !runs(memory) {
		t.Error("no program runs there")
	}
}

// A folder in which nothing can be written runs nothing.
func TestRuns(t *testing.T) {
	if !runs(t.TempDir()) {
		t.Error("a folder of this test runs no program")
	}
	if runs("/proc") {
		t.Error("/proc runs programs")
	}
}

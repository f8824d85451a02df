package descriptor

import (
	"os"
	"syscall"
	"testing"
)

func TestStrangersHaveAQuarter(t *testing.T) {
	lower(t, 400)
	if got := Strangers(); got != 100 {
		t.Errorf("strangers may have %d of 400, want 100", got)
	}
}

func TestExhausted(t *testing.T) {
	lower(t, 3) // all of which are open
	if _, err := os.Open(os.DevNull); !Exhausted(err) {
		t.Errorf("error %v is not seen as one of too many open files", err)
	}
	if Exhausted(os.ErrNotExist) || Exhausted(nil) {
		t.Error("a file that is missing, or no error, counts as too many open files")
	}
}

// lower has the process open no more than a number of files until the test ends.
func lower(t *testing.T, to uint64) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: to, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	})
}

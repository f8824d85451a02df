package nats

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/transporttest"
)

// smallDisk returns a folder on a disk of 24 MB: on the disk that MERCER_TMPFS names, or
// on one that the test mounts, which only root can.
func smallDisk(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("MERCER_TMPFS"); dir != "" {
		sub, err := os.MkdirTemp(dir, "queues")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(sub); err != nil {
				t.Error(err)
			}
		})
		return sub
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no small disk can be mounted here (%v); mount one and name it in MERCER_TMPFS: mount -t tmpfs -o size=24m tmpfs DIR", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Another program's file takes the queues' disk space for a moment. The server accepts no
// message again, even when there is room; its process learns so and ends, and the next one
// has all accepted messages.
func TestAFullDiskUnderTheQueues(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	dir := smallDisk(t)
	log := &lines{}
	f := newFederation(t, func(c *Config) {
		c.Dir = filepath.Join(dir, "q")
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	if !strings.Contains(log.String(), "less free space than the queues may take") {
		t.Errorf("nobody is warned that the disk is smaller than the queues may be: %s", log.String())
	}
	names := transporttest.Members()
	b := f.join(names[1])
	f.send(b, names[0], "accepted")
	watched := make(chan error, 1)
	go func() { watched <- f.server.Watch(t.Context()) }()
	fillDisk(t, dir)
	sent := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		sent <- b.Send(ctx, names[0], transport.Bulk, make([]byte, 500<<10))
	}()
	select {
	case err := <-watched:
		var full *StoreError
		if !errors.As(err, &full) || !strings.Contains(full.Reason, "no space left") {
			t.Errorf("%v; want a StoreError that says what is wrong", err)
		}
	case <-time.After(15 * time.Second):
		t.Fatal("nobody is told that the disk is full")
	}
	if err := <-sent; err == nil {
		t.Error("a message was accepted that is on no disk")
	}
	if err := os.Remove(filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	f.restart(0)
	a := f.join(names[0])
	if d := f.receive(a); string(d.Data) != "accepted" {
		t.Errorf("%d bytes, want the message that was accepted", len(d.Data))
	} else if err := d.Ack(); err != nil {
		t.Error(err)
	}
	f.send(b, names[0], "there is room again")
}

// lines collects the log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// fillDisk leaves room for less than a message.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	free, err := disk.Free(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other"), make([]byte, free-64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
}

// While the disk is intact, Watch returns nothing.
func TestWatchEndsWithItsContext(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*watchEvery+watchEvery/2)
	defer cancel()
	if err := f.server.Watch(ctx); err != nil {
		t.Error(err)
	}
}

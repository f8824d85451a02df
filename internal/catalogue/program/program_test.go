package program

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func script(t *testing.T, text string) Command {
	t.Helper()
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "extract.sh"), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{"./extract.sh", "a b; echo c", "$HOME"}, Folder: folder, Timeout: time.Minute, MaxBytes: 1000}
}

func output(t *testing.T, c Command) (string, error) {
	t.Helper()
	o, err := c.Start(context.Background())
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(o)
	return string(b), errors.Join(err, o.Close())
}

// Arguments arrive as they are written, since no shell reads them; the home is the folder.
func TestProgramRunsWithoutAShell(t *testing.T) {
	c := script(t, `echo "$1|$2"; pwd; cat`)
	folder, err := filepath.EvalSymlinks(c.Folder)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := output(t, c); err != nil || got != "a b; echo c|$HOME\n"+folder+"\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

// What a program wrote before it failed is no table.
func TestFailedProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct {
		name, text string
		change     func(*Command)
		want       string
	}{
		{"exit code", "echo x; echo no such host >&2; exit 3", nil, `./extract.sh failed: exit status 3; it wrote "no such host" to stderr`},
		{"silent", "exit 1", nil, "./extract.sh failed: exit status 1; it wrote nothing to stderr"},
		{"much on stderr", "head -c 1000000 /dev/zero | tr '\\0' z >&2; exit 1", nil, `./extract.sh failed: exit status 1; its text on stderr begins with "` + strings.Repeat("z", maxStderr) + `"`},
		{"time", "echo x; sleep 600", func(c *Command) { c.Timeout = 200 * time.Millisecond }, "./extract.sh did not finish within 200ms; raise \"timeout\", or let the program write fewer rows; it wrote nothing to stderr"},
		{"time of a child", "sleep 600 & echo x", func(c *Command) { c.Timeout = 200 * time.Millisecond }, "./extract.sh did not finish within 200ms; raise \"timeout\", or let the program write fewer rows; it wrote nothing to stderr"},
		{"bytes", "yes", nil, "./extract.sh writes more than 1000 bytes; raise max_bytes, or let the program write fewer rows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := script(t, tt.text)
			if tt.change != nil {
				tt.change(&c)
			}
			if _, err := output(t, c); err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// A program that somebody else could have written is not run.
func TestProgramOfOthers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(file, folder string) error
		want   string
	}{
		{"group", func(file, _ string) error { return os.Chmod(file, 0o770) }, "since other users can write to this file; use chmod go-w "},
		{"others", func(file, _ string) error { return os.Chmod(file, 0o702) }, "since other users can write to this file; use chmod go-w "},
		{"folder", func(_, folder string) error { return os.Chmod(folder, 0o777) }, "since other users can write to a folder of the path; use chmod go-w "},
		{"missing", func(file, _ string) error { return os.Remove(file) }, "extract.sh cannot be run: no such file or directory; correct the path"},
		{"folder in its place", func(file, _ string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }, "extract.sh cannot be run: the path is not a regular file"},
		{"not executable", func(file, _ string) error { return os.Chmod(file, 0o600) }, "cannot be run, because it is not executable; use chmod u+x "},
		{"owner", func(file, _ string) error { return os.Chown(file, 12345, -1) }, "since this file belongs to user 12345; change its owner to root or the user of this process"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "owner" && os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			c := script(t, "touch ran; echo x")
			if err := tt.change(filepath.Join(c.Folder, "extract.sh"), c.Folder); err != nil {
				t.Fatal(err)
			}
			if _, err := output(t, c); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
			if _, err := os.Stat(filepath.Join(c.Folder, "ran")); err == nil {
				t.Error("the program has run")
			}
		})
	}
}

// A file that a program is given by name is judged like the program: an interpreter runs it.
func TestArgumentsOfOthers(t *testing.T) {
	c := script(t, "touch ran; echo x")
	file := filepath.Join(c.Folder, "extract.sh")
	c.Args = []string{"/bin/sh", "extract.sh", "no such file"}
	if text, err := output(t, c); err != nil || text != "x\n" {
		t.Fatalf("got %q, %v", text, err)
	}
	for _, arg := range []string{"extract.sh", file} {
		if err := errors.Join(os.Chmod(file, 0o770), os.Remove(filepath.Join(c.Folder, "ran"))); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		c.Args[1] = arg
		want := "/bin/sh is not run with " + file + ", since other users can write to this file; use chmod go-w " + file
		if _, err := output(t, c); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if _, err := os.Stat(filepath.Join(c.Folder, "ran")); err == nil {
			t.Error("the program has run")
		}
	}
}

// A process that is told to stop does not wait for the program.
func TestStop(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	o, err := script(t, "echo x; sleep 600").Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(o, make([]byte, 2)); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := io.ReadAll(o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

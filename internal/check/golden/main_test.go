package golden

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/cpu"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/cli"
	own "github.com/mercer-fl/mercer/internal/local/all"
	"github.com/mercer-fl/mercer/internal/method/all"
)

// child is set in a process that runs mercer instead of tests.
const child = "MERCER_GOLDEN_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(child) != "" {
		os.Exit(cli.Main(all.Reader(), own.Local(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	disktest.InMemory()
	os.Exit(m.Run())
}

// The processor features that a child process may use. Decisions, and so hashes of models,
// depend on them, because a fused product rounds once.
const (
	avx2  = "cpu.avx512f=off"
	plain = "cpu.avx2=off,cpu.fma=off,cpu.avx512f=off"
)

// needsAVX2 skips a test on machines without AVX2, unless nothing may be skipped.
func needsAVX2(t *testing.T) {
	t.Helper()
	switch {
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
	case os.Getenv("MERCER_REQUIRE_DATA") == "1":
		t.Fatal("MERCER_REQUIRE_DATA=1: this machine has no AVX2 with FMA, and results cannot be compared")
	default:
		t.Skip("NOTHING IS COMPARED: this machine has no AVX2 with FMA")
	}
}

// order names the variable that makes tests rewrite files of testdata: "write" with this
// program's results, or the path of another program, whose results are written.
const order = "MERCER_GOLDEN"

// writes reports whether files of testdata are rewritten.
func writes() bool { return os.Getenv(order) != "" }

// program returns the path of the program that a process runs.
func program() string {
	if path := os.Getenv(order); filepath.IsAbs(path) {
		return path
	}
	return os.Args[0]
}

// process describes the environment of a run of mercer.
type process struct {
	dir string   // its folder
	env []string // beside the usual
}

// said holds the exit code and the output of a command.
type said struct {
	exit           int
	stdout, stderr string
}

// newProcess makes a folder with the examples and the tables of testdata.
func newProcess(t *testing.T, features string, env ...string) process {
	t.Helper()
	p := process{t.TempDir(), append(env, "GODEBUG="+features)}
	for to, from := range map[string]string{"examples": "../../../examples", ".": "testdata/tables"} {
		if err := os.CopyFS(filepath.Join(p.dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p process) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p process) mercer(t *testing.T, line string) said {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Minute)
	defer stop()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program(), strings.Fields(line)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, &out, &errs
	cmd.Env = append([]string{child + "=1", "HOME=" + p.dir, "TMPDIR=" + p.dir, "PATH=" + os.Getenv("PATH")}, p.env...)
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", line, err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// The environment of a child determines the instructions that it uses.
func TestChildrenUseWhatTheyAreTold(t *testing.T) {
	needsAVX2(t)
	for features, want := range map[string]bool{avx2: true, plain: false} {
		s := newProcess(t, features).mercer(t, "version")
		if s.exit != 0 || strings.Contains(s.stdout, " avx2 fma") != want || strings.Contains(s.stdout, "avx512f") {
			t.Errorf("%s: %+v", features, s)
		}
	}
}

package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// place is a folder with a program that nobody else can change, and an open folder.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(script(t, "echo own").Folder)
	if err != nil {
		t.Fatal(err)
	}
	p := place{t, dir}
	p.must(os.Mkdir(filepath.Join(dir, "open"), 0o777), os.Chmod(filepath.Join(dir, "open"), 0o777))
	return p
}

func (p place) must(errs ...error) {
	p.t.Helper()
	if err := errors.Join(errs...); err != nil {
		p.t.Fatal(err)
	}
}

// put writes a file, and returns its path.
func (p place) put(name, text string, mode os.FileMode) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	p.must(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode), os.Chmod(path, mode))
	return path
}

// mark is a script that shows that it ran.
func (p place) mark() string { return "#!/bin/sh\ntouch " + filepath.Join(p.dir, "ran") + "\n" }

// run expects a refusal, and no trace of a run.
func (p place) refused(c Command, want string) {
	p.t.Helper()
	ready := script(p.t, "")
	c.Folder, c.Timeout, c.MaxBytes = p.dir, ready.Timeout, ready.MaxBytes
	if text, err := output(p.t, c); err == nil || !strings.Contains(err.Error(), want) {
		p.t.Errorf("%q gives %q, %v; want %s", c.Args, text, err, want)
	}
	if err := os.Remove(filepath.Join(p.dir, "ran")); err == nil {
		p.t.Errorf("%q has run", c.Args)
	}
}

// What others can put in a program's place is not run, however it is named.
func TestAttackProgramInAFolderOfOthers(t *testing.T) {
	p := newPlace(t)
	folder := "other users can write to a folder of the path; use chmod go-w " + filepath.Join(p.dir, "open")
	p.put("open/p.sh", p.mark(), 0o755)
	p.put("open/in/p.sh", p.mark(), 0o755)
	p.must(os.Symlink("open/p.sh", filepath.Join(p.dir, "link.sh")), os.Symlink("open/in", filepath.Join(p.dir, "in")))
	p.put("own.sh", p.mark(), 0o755)
	p.must(os.Symlink("../own.sh", filepath.Join(p.dir, "open/link.sh")))
	p.put("script.sh", "#!"+filepath.Join(p.dir, "open/p.sh")+"\n", 0o755)
	for _, path := range []string{"./open/p.sh", "./link.sh", "./open/in/p.sh", "./in/p.sh", "./open/link.sh", "./open/../own.sh", "./script.sh"} {
		p.refused(Command{Args: []string{path}}, folder)
	}
	p.refused(Command{Args: []string{"/proc/self/root" + filepath.Join(p.dir, "open/p.sh")}}, "since the path leads through /proc")
	p.refused(Command{Args: []string{"/proc/self/cwd/own.sh"}}, "since the path leads through /proc")
	if os.Geteuid() == 0 {
		p.put("theirs/p.sh", p.mark(), 0o755)
		p.must(os.Chown(filepath.Join(p.dir, "theirs"), 1000, 1000))
		p.refused(Command{Args: []string{"./theirs/p.sh"}}, "/theirs belongs to user 1000; change its owner")
	}
	c := script(t, "")
	c.Folder, c.Args = p.dir, []string{"./own.sh"}
	if _, err := output(t, c); err != nil {
		t.Errorf("what stands in a folder of this user does not run: %v", err)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "ran")); err != nil {
		t.Error("a script that runs leaves no trace, so this test shows nothing")
	}
}

// A file of others does not get in any form that can be seen in an argument.
func TestAttackArgumentsThatNameFilesOfOthers(t *testing.T) {
	p := newPlace(t)
	file := p.put("open/a", p.mark(), 0o666)
	code := p.put("own.py", p.mark(), 0o666)
	for _, args := range [][]string{
		{"-f" + file}, {"--file=" + file}, {"-fopen/a"}, {"--file", file}, {"-c", "cat " + file}, {"-c", "set -e;cat<" + file}, {"-c", "(. open/a)"},
		{"-c", `exec "` + file + `" x`}, {"own.py"}, {"@own.py"}, {"config=x,script=own.py"}, {"-c", "sh -f" + code}, {"open"}, {"-I", "open/"},
	} {
		p.refused(Command{Args: append([]string{"/bin/sh"}, args...)}, "/bin/sh is not run with "+p.dir)
	}
	p.refused(Command{Args: []string{"/bin/sh", "/proc/self/cwd/own.py"}}, "/bin/sh is not run with /proc/self/cwd/own.py, since the path leads through /proc")
	p.must(os.Symlink(filepath.Dir(p.put("elsewhere/deep/x", "", 0o600)), filepath.Join(p.dir, "deep")))
	p.put("elsewhere/up", p.mark(), 0o666)
	p.refused(Command{Args: []string{"/bin/sh", "deep/../up"}}, "/bin/sh is not run with "+filepath.Join(p.dir, "deep")+"/../up")
	spaced := p.put("own file", p.mark(), 0o666)
	for _, arg := range []string{"own file", "--script=own file", "-sown file"} {
		p.refused(Command{Args: []string{"/bin/sh", arg}}, "/bin/sh is not run with "+spaced)
	}
}

// A program is given what its entry says, and not what another table's needs.
func TestAttackEnvironmentOfAnotherTable(t *testing.T) {
	p := newPlace(t)
	t.Setenv("HOSPITAL_DSN", "postgres://reader:hush@db/h")
	t.Setenv("WARD_PASSWORD", "for this table")
	t.Setenv("LANG", "C.UTF-8")
	t.Setenv("PATH", strings.Join([]string{"", ".", "open", filepath.Join(p.dir, "open"), filepath.Join(p.dir, "none"), "/tmp", "/usr/bin", "/bin"}, ":"))
	c := script(t, "env -u PWD -u SHLVL -u _ -u OLDPWD")
	c.Env = []string{"WARD_PASSWORD"}
	text, err := output(t, c)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		given[name] = value
	}
	for name, want := range map[string]string{"WARD_PASSWORD": "for this table", "LANG": "C.UTF-8", "HOME": os.Getenv("HOME")} {
		if given[name] != want {
			t.Errorf("%s is %q, want %q", name, given[name], want)
		}
	}
	if strings.Contains(text, "hush") || len(given) != 5 {
		t.Errorf("it is given %v", given)
	}
	for folder := range strings.SplitSeq(given["PATH"], ":") {
		if folder != "/usr/bin" && folder != "/bin" {
			t.Errorf("it looks for programs in %q", folder)
		}
	}
	c.Env = []string{"MERCER_NO_SUCH_VARIABLE"}
	want := "env lists the variable MERCER_NO_SUCH_VARIABLE for ./extract.sh, but it is not set; set the variable, or remove it from env"
	if _, err := output(t, c); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// Others may not leave files where a program runs: interpreters read some by themselves.
func TestAttackWorkingDirectoryOfOthers(t *testing.T) {
	for mode, want := range map[os.FileMode]string{0o777: "write to a folder of the path", 0o777 | os.ModeSticky: "create files in this folder"} {
		p := newPlace(t)
		p.must(os.Chmod(p.dir, mode))
		p.refused(Command{Args: []string{"/bin/sh", "-c", "touch ran"}}, fmt.Sprintf("/bin/sh is not run in %s, since other users can %s; use chmod go-w %[1]s", p.dir, want))
	}
}

// Links are followed once. A program still sees the name by which it was called.
func TestProgramByALink(t *testing.T) {
	p := newPlace(t)
	p.must(os.Symlink("/bin/sh", filepath.Join(p.dir, "sh")))
	c := script(t, "")
	c.Folder, c.Args = p.dir, []string{"./sh", "-c", "echo $0"}
	if text, err := output(t, c); err != nil || text != filepath.Join(p.dir, "sh")+"\n" {
		t.Errorf("got %q, %v", text, err)
	}
	p.must(os.Symlink("extract.sh", filepath.Join(p.dir, "link.sh")))
	c.Args = []string{"./link.sh"}
	file := p.put("extract.sh", "#!/bin/sh\necho $0", 0o700)
	if text, err := output(t, c); err != nil || text != file+"\n" {
		t.Errorf("what runs is %q, %v; want %s", text, err, file)
	}
}

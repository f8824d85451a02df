package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// newChain makes a place with a program that anybody can write to, at open/interp and by the name
// theirs in a folder of PATH that nobody else can write to.
func newChain(t *testing.T) (p place, theirs string) {
	t.Helper()
	p = newPlace(t)
	theirs = p.put("open/interp", p.mark(), 0o777)
	p.must(os.Mkdir(filepath.Join(p.dir, "bin"), 0o700), os.Symlink(theirs, filepath.Join(p.dir, "bin", "theirs")))
	t.Setenv("PATH", filepath.Join(p.dir, "bin")+":/usr/bin:/bin")
	return p, theirs
}

// A user who can write to a program that the first line of a script leads to, over whatever steps,
// has it run as the daemon's user with the table at hand.
func TestAttackInterpreterOfOthersByFirstLine(t *testing.T) {
	p, theirs := newChain(t)
	const foreign, given = "other users can write to a folder of the path; use chmod go-w ", "./entry.sh is not run with "
	const unseen, partly = "since the program behind env cannot be determined: ", "since its first line is too long"
	p.put("again.sh", "#!"+p.put("wrap", "#!"+theirs+"\n", 0o755)+"\n", 0o755)
	p.must(os.Symlink("/usr/bin/env", filepath.Join(p.dir, "call")), os.Symlink(theirs, filepath.Join(p.dir, "sh\r")), os.Symlink("/bin/sh", filepath.Join(p.dir, "sh")))
	p.must(os.Symlink(theirs, filepath.Join(p.dir, "bin", "sh\u00a0x")))
	box, err := os.ReadFile("/usr/bin/env")
	p.must(err, os.Symlink(p.put("box", string(box), 0o755), filepath.Join(p.dir, "env")))
	p.must(os.Symlink(p.put("open/later", p.mark(), 0o666), filepath.Join(p.dir, "bin", "sh")))
	for line, want := range map[string]string{
		filepath.Join(p.dir, "env") + " theirs":  foreign,
		"/usr/bin/env sh":                        foreign, // which can get the right to run
		"/usr/bin/env theirs":                    foreign,
		"/usr/bin/env -S theirs -x":              foreign,
		"/usr/bin/env -vS theirs":                foreign,
		"/usr/bin/env --split-string=A=1 theirs": foreign,
		"/usr/bin/env -S -u A -- A=1 B=2 theirs": foreign,
		"/usr/bin/env -S env theirs":             foreign,
		"/usr/bin/env -S sh\u00a0x":              foreign,
		filepath.Join(p.dir, "call") + " theirs": foreign,
		"/bin/sh " + theirs:                      given,
		"/usr/bin/env -S LD_PRELOAD=" + theirs:   given,
		filepath.Join(p.dir, "wrap"):             foreign,
		"./again.sh":                             foreign,
		filepath.Join(p.dir, "sh") + "\r":        foreign,
		"/usr/bin/env -S -i theirs":              "env would search for theirs in other folders",
		"/usr/bin/env -S - theirs":               "env would search for theirs in other folders",
		"/usr/bin/env -S - -S theirs":            "env would search for -S in other folders",
		"/usr/bin/env -S -u PATH theirs":         "env would search for theirs in other folders",
		"/usr/bin/env -S --unset=PATH theirs":    "env would search for theirs in other folders",
		"/usr/bin/env -S PATH=bin theirs":        "env would search for theirs in other folders",
		"/usr/bin/env -S th\\_eirs":              unseen + `the text " th\\_eirs" has quotes`,
		"/usr/bin/env -S ${THEIRS}":              unseen,
		"/usr/bin/env -S -C bin theirs":          unseen + "the option -C of env is not supported",
		"/usr/bin/env --chdir=bin theirs":        unseen + "the option --chdir of env is not supported",
		"/usr/bin/env -i theirs":                 unseen + "the option -  of env is not supported",
		"/usr/bin/env -=theirs":                  unseen + "the option -= of env is not supported",
		"/usr/bin/env my theirs":                 "different systems run different programs for env",
		"/usr/bin/env A=1 theirs":                "starts a chain of more than 5 programs",
		"/usr/bin/env mercer-no-such":            "env finds no mercer-no-such",
		"/bin/sh " + strings.Repeat(" ", 300):    partly,
		"/bin/sh -" + strings.Repeat("e", 300):   partly,
		"/bin/sh\x00" + theirs:                   partly,
	} {
		p.put("entry.sh", "#!"+line+"\ntrue\n", 0o755)
		p.refused(Command{Args: []string{"./entry.sh"}}, want)
	}
	p.put("entry.sh", "#!/usr/bin/env -u\n", 0o755)
	p.refused(Command{Args: []string{"./entry.sh", "theirs"}}, foreign)
	for args, want := range map[string]string{"theirs": foreign, "-u A theirs": foreign, "-iS theirs": "env would search for theirs", "A=1 theirs": foreign} {
		p.refused(Command{Args: append([]string{"/usr/bin/env"}, strings.Fields(args)...)}, want)
	}
}

// What leads to programs of this user and root runs, as far as Linux follows scripts.
func TestInterpretersOfThisUser(t *testing.T) {
	p, _ := newChain(t)
	p.put("bin/own", "#!/bin/sh\necho own\n", 0o755)
	for _, line := range []string{"/bin/sh", " /bin/sh -e ", "/usr/bin/env own", "/usr/bin/env -S -u A B=1 own", "/usr/bin/env -S -i /bin/sh"} {
		p.put("entry.sh", "#!"+line+"\necho own\n", 0o755)
		p.runs("./entry.sh")
	}
	p.put("step0", "#!/bin/sh\necho own\n", 0o755)
	for i := range maxSteps {
		p.put(fmt.Sprintf("step%d", i+1), fmt.Sprintf("#!%s/step%d\n", p.dir, i), 0o755)
	}
	p.runs(fmt.Sprintf("./step%d", maxSteps-1))
	p.refused(Command{Args: []string{fmt.Sprintf("./step%d", maxSteps)}}, "starts a chain of more than 5 programs")
}

// runs expects a program to run.
func (p place) runs(path string) {
	p.t.Helper()
	c := script(p.t, "")
	c.Folder, c.Args = p.dir, []string{path}
	if text, err := output(p.t, c); err != nil || text != "own\n" {
		p.t.Errorf("%s gives %q, %v", path, text, err)
	}
}

// A system runs a script that this process cannot read, and its interpreter need not read it.
func TestAttackScriptThatCannotBeRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every file")
	}
	p, theirs := newChain(t)
	p.put("entry.sh", "#!"+theirs+"\n", 0o111)
	p.refused(Command{Args: []string{"./entry.sh"}}, "the file cannot be read, so it might be a script")
}

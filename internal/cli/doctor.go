package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/catalogue"
)

// status is the outcome of a check.
type status string

const (
	statusOK   status = "ok"
	statusWarn status = "warn" // not all jobs work, or not as well or as safely as they could
	statusFail status = "fail" // a job or a daemon will fail for this reason
)

// check is the result of one examination of the machine or the home.
type check struct {
	Name   string `json:"name"`
	Status status `json:"status"`
	Found  string `json:"found"`
	Advice string `json:"advice"` // what to do; "" if nothing is wrong

	input bool // whether the check failed because a file or a table of the home is wrong
}

func good(name, found string, args ...any) check {
	return check{Name: name, Status: statusOK, Found: fmt.Sprintf(found, args...)}
}

func warn(name, advice, found string, args ...any) check {
	return check{Name: name, Status: statusWarn, Advice: advice, Found: fmt.Sprintf(found, args...)}
}

func bad(name, advice, found string, args ...any) check {
	return check{Name: name, Status: statusFail, Advice: advice, Found: fmt.Sprintf(found, args...)}
}

// faulty returns a failed check of the home's files and tables.
func faulty(name, advice string, err error) check {
	c := bad(name, advice, "%s", message(err))
	c.input = classify(err).Exit == Usage
	return c
}

// doctorResult holds the results of all checks.
type doctorResult struct {
	Checks []check `json:"checks"`
}

func (a *app) doctor() *cobra.Command {
	var home string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that this machine can run a party or a coordinator",
		Long: `Check processor, memory, disk, clock, identity, network and data, and say how to
solve each problem. For a party's home, also check the modes of its files, read every
table of the catalogue with every approved dictionary and every label, and call the
coordinator, within a few seconds. This runs the programs and queries of the catalogue,
and changes and sends nothing. The exit code is 2 if a file or a table of the home is
wrong, and 1 if only other checks fail; a warning is not a failure.`,
		Example: "  mercer doctor\n  mercer doctor --home /var/lib/mercer --json",
		Args:    args(),
		RunE: a.run(func(ctx context.Context, _ []string) (Result, error) {
			r := doctorResult{Checks: a.examine(ctx, home)}
			return r, r.err()
		}),
	}
	a.homeFlag(cmd, &home)
	return cmd
}

func (a *app) examine(ctx context.Context, home string) []check {
	return append([]check{
		checkProcessor(),
		checkCores(),
		checkMemory(),
		checkDisk(home),
		a.checkIdentity(home),
		a.checkCatalogue(home),
		checkClock(),
		checkLoopback(ctx),
		a.checkData(),
		a.checkLine(home),
	}, a.checkHome(ctx, home)...)
}

// checkHome reads everything that a home's jobs will need, and calls its coordinator.
func (a *app) checkHome(ctx context.Context, home string) (list []check) {
	for _, f := range a.at(home).Inspect(ctx, a.reader) {
		switch {
		case f.Err == nil:
			list = append(list, good(f.Part, "%s", f.Found))
		case f.Minor:
			list = append(list, warn(f.Part, f.Advice, "%s", message(f.Err)))
		default:
			list = append(list, faulty(f.Part, f.Advice, f.Err))
		}
	}
	return list
}

// err returns an error if a check failed. The error carries all results.
func (r doctorResult) err() error {
	var failed []string
	e := &Error{Code: codeFailed, Exit: Failed, Result: r, Hint: "follow the advice and run mercer doctor again"}
	for _, c := range r.Checks {
		if c.Status == statusFail {
			failed = append(failed, c.Name)
		}
		if c.input {
			e.Code, e.Exit = codeBadInput, Usage
		}
	}
	if failed == nil {
		return nil
	}
	e.Err = errors.New("failed checks: " + strings.Join(failed, ", "))
	return e
}

// Print writes a table of the checks, with the advice below it.
func (r doctorResult) Print(w io.Writer) error {
	t := &tableOf{header: []string{"check", "status", "found"}}
	for _, c := range r.Checks {
		t.add(c.Name, string(c.Status), c.Found)
	}
	p := &printer{w: w}
	p.join(t.print(w))
	for _, c := range r.Checks {
		if c.Advice != "" {
			p.linef("\n%s", paragraph(c.Name+": "+c.Advice))
		}
	}
	return p.err
}

func checkProcessor() check {
	found := strings.Join(features(), " ")
	if found == "" {
		found = "no known vector instructions"
	}
	if runtime.GOARCH == "amd64" && !(cpu.X86.HasAVX2 && cpu.X86.HasFMA) {
		return warn("processor", "results are the same, but matrix products are slow; a machine with AVX2 is several times faster", "%s", found)
	}
	return good("processor", "%s", found)
}

func checkCores() check {
	n := runtime.GOMAXPROCS(0)
	if n == 1 {
		return warn("cores", "give the process a second core: matrix products use all cores", "1 core")
	}
	return good("cores", "%d cores", n)
}

// Minimum sizes of memory and disk. With less, small jobs might still run, but large jobs fail.
const (
	littleMemory = 1 << 30
	littleDisk   = 1 << 30
	noDisk       = 64 << 20 // with less free space, a journal does not fit
)

func checkMemory() check {
	free, err := freeMemory()
	if err != nil {
		return warn("memory", "check the free memory yourself: a Gram matrix of n rows takes 8 n n bytes", "unknown: %v", err)
	}
	if free < littleMemory {
		return warn("memory", "close other programs: a Gram matrix of n rows takes 8 n n bytes", "%s free", humanize.Bytes(free))
	}
	return good("memory", "%s free", humanize.Bytes(free))
}

// checkDisk checks the free space of the file system where home is or will be.
func checkDisk(home string) check {
	dir, err := existing(home)
	if err != nil {
		return bad("disk", "give another folder with --home", "%v", err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return warn("disk", "check the free space yourself: journals need room", "%s: %v", dir, err)
	}
	free := int64(fs.Bavail) * int64(fs.Bsize) //nolint:unconvert // uint32 on macOS
	found := fmt.Sprintf("%s free at %s", humanize.Bytes(free), dir)
	switch {
	case free < noDisk:
		return bad("disk", "free some space, or give another folder with --home: journals do not fit", "%s", found)
	case free < littleDisk:
		return warn("disk", "free some space: journals hold what parties send until a job ends", "%s", found)
	}
	return good("disk", "%s", found)
}

// existing returns dir if it exists, or else its nearest parent folder that exists.
func existing(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", fmt.Errorf("%s is a file, not a folder; choose a path of folders", dir)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || dir == filepath.Dir(dir):
			return "", err
		}
		if target, err := os.Readlink(dir); err == nil {
			return "", fmt.Errorf("%s is a link to %s, which does not exist; make that folder, or choose another", dir, target)
		}
		dir = filepath.Dir(dir)
	}
}

func (a *app) checkIdentity(home string) check {
	h := a.at(home)
	path := h.IdentityPath()
	own, err := h.Fingerprint()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return good("identity", "none yet at %s", path)
	case err != nil:
		return faulty("identity", "correct the identity file before you start a daemon with this home", err)
	}
	if info, err := os.Stat(home); err == nil && info.Mode().Perm()&0o077 != 0 {
		return warn("identity", "other users can read files of this home; run: chmod 700 "+home, "%s at %s, in a folder of mode %04o", own, path, info.Mode().Perm())
	}
	return good("identity", "%s at %s", own, path)
}

// checkLine checks whether the home's configuration allows the daemon's connections.
func (a *app) checkLine(home string) check {
	found, err := a.at(home).Line(a.reader)
	if err != nil {
		return faulty("line", "correct the error before you start a daemon with this home", err)
	}
	return good("line", "%s", found)
}

// checkCatalogue warns of tables in a party's catalogue that jobs cannot use, or can use only
// without labels, and of settings that an earlier version wrote.
func (a *app) checkCatalogue(home string) check {
	h := a.at(home)
	c, err := h.Config(a.reader)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return good("catalogue", "none yet at %s", h.ConfigPath())
	case err != nil:
		return faulty("catalogue", "correct the configuration before you start a daemon with this home", err)
	}
	if warnings := append(c.MissingFiles(h), c.Warnings()...); len(warnings) > 0 {
		return warn("catalogue", "edit "+h.ConfigPath()+" if jobs should be able to do more: "+strings.Join(warnings, "; "), "%s, %s", humanize.Count(len(c.Data), "table"), humanize.Count(len(warnings), "warning"))
	}
	return good("catalogue", "%s at %s", humanize.Count(len(c.Data), "table"), h.ConfigPath())
}

// checkClock checks that the clock is not earlier than the build of this program. It cannot detect
// other errors.
func checkClock() check {
	now := time.Now()
	made, err := buildTime()
	if err != nil {
		return warn("clock", "compare it with another clock", "%s; the build time of this program is unknown: %v", stamp(now), err)
	}
	if now.Before(made) {
		return bad("clock", "set the clock, and turn on time synchronisation", "%s, before this program was built (%s)", stamp(now), stamp(made))
	}
	return good("clock", "%s", stamp(now))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// buildTime returns the time of the program's source revision. If that is unknown, it returns the
// time of the program's file.
func buildTime() (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, buildVersion().Time); err == nil {
		return t, nil
	}
	path, err := os.Executable()
	if err != nil {
		return time.Time{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func checkLoopback(ctx context.Context) check {
	const advice = "a coordinator must listen; check firewalls, containers and security profiles on this machine"
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return bad("network", advice, "cannot listen on loopback: %v", err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return bad("network", advice, "cannot stop listening on %s: %v", addr, err)
	}
	return good("network", "can listen on loopback")
}

func (a *app) checkData() check {
	folder := catalogue.Folder(a.env)
	if folder == "" {
		return warn("data", "set "+catalogue.Variable+" to a folder with CSV or LIBSVM files, or give paths; the bundled data needs neither", "no data folder")
	}
	entries, err := catalogue.New(folder).List()
	if err != nil {
		return bad("data", "set "+catalogue.Variable+" to a folder that can be read", "%v", err)
	}
	tables := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, catalogue.Bundled) {
			tables++
		}
	}
	return good("data", "%s at %s", humanize.Count(tables, "table"), folder)
}

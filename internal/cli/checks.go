package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

	"github.com/mercer-fl/mercer/internal/daemon"
	"github.com/mercer-fl/mercer/internal/identity"
	"github.com/mercer-fl/mercer/internal/say"
	"github.com/mercer-fl/mercer/internal/source"
)

func checkProcessor() check {
	found := strings.Join(features(), " ")
	if found == "" {
		found = "no vector instructions that are known here"
	}
	if runtime.GOARCH == "amd64" && !(cpu.X86.HasAVX2 && cpu.X86.HasFMA) {
		return warn("processor", "results are the same, but expect products of matrices to be slow; a machine with AVX2 is several times faster", "%s", found)
	}
	return good("processor", "%s", found)
}

func checkCores() check {
	n := runtime.GOMAXPROCS(0)
	if n == 1 {
		return warn("cores", "give the process a second core: products of matrices use all there are", "1 core")
	}
	return good("cores", "%d cores", n)
}

// Below these a job of a few thousand rows may still run; larger ones will not.
const (
	littleMemory = 1 << 30
	littleDisk   = 1 << 30
	noDisk       = 64 << 20 // not even a journal fits
)

func checkMemory() check {
	free, err := freeMemory()
	if err != nil {
		return warn("memory", "look at the free memory yourself: a Gram matrix of n rows takes 8 n n bytes", "not known: %v", err)
	}
	if free < littleMemory {
		return warn("memory", "close other programs: a Gram matrix of n rows takes 8 n n bytes", "%s free", say.Bytes(free))
	}
	return good("memory", "%s free", say.Bytes(free))
}

// checkDisk looks at the file system where home is, or would be.
func checkDisk(home string) check {
	dir, err := existing(home)
	if err != nil {
		return bad("disk", "give another folder with --home", "%v", err)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return warn("disk", "look at the free space yourself: journals need room", "%s: %v", dir, err)
	}
	free := int64(fs.Bavail) * int64(fs.Bsize) //nolint:unconvert // uint32 on macOS
	found := fmt.Sprintf("%s free at %s", say.Bytes(free), dir)
	switch {
	case free < noDisk:
		return bad("disk", "free some space, or give another folder with --home: journals do not fit", "%s", found)
	case free < littleDisk:
		return warn("disk", "free some space: journals hold what parties send until a job ends", "%s", found)
	}
	return good("disk", "%s", found)
}

// existing returns the nearest folder on the way up from dir that is there.
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
			return "", fmt.Errorf("%s is no folder", dir)
		case !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir):
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

func checkIdentity(home string) check {
	path := daemon.Home(home).IdentityPath()
	id, err := identity.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return good("identity", "none yet at %s", path)
	case err != nil:
		return bad("identity", "put it right before you start a daemon with this home", "%v", err)
	}
	return good("identity", "%s at %s", id.Public().Fingerprint(), path)
}

// checkCatalogue looks for tables of a party that nobody may use, or only without
// labels.
func (a *app) checkCatalogue(home string) check {
	h := daemon.Home(home)
	c, err := h.Config(a.reader)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return good("catalogue", "none yet at %s", h.ConfigPath())
	case err != nil:
		return bad("catalogue", "put it right before you start a daemon with this home", "%v", err)
	}
	if warnings := c.Warnings(); len(warnings) > 0 {
		return warn("catalogue", "say in "+h.ConfigPath()+" what jobs may do, if they are to do something: "+strings.Join(warnings, "; "), "%s, %s", say.Count(len(c.Data), "table"), say.Count(len(warnings), "warning"))
	}
	return good("catalogue", "%s at %s", say.Count(len(c.Data), "table"), h.ConfigPath())
}

// checkClock can only find a clock that is behind the program's own making.
func checkClock() check {
	now := time.Now()
	made, err := built()
	if err != nil {
		return warn("clock", "compare it with another clock", "%s; when this program was built is not known: %v", stamp(now), err)
	}
	if now.Before(made) {
		return bad("clock", "set the clock; turn time synchronisation on", "%s, before this program was built (%s)", stamp(now), stamp(made))
	}
	return good("clock", "%s", stamp(now))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// built is the time of the source revision, or else of the program's file.
func built() (time.Time, error) {
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
	const advice = "a coordinator has to listen; look at firewalls, containers and security profiles on this machine"
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
	folder := source.Folder(a.env)
	if folder == "" {
		return warn("data", "set "+source.Variable+" to a folder with CSV or LIBSVM files, or give paths; the bundled data needs neither", "no data folder")
	}
	entries, err := source.New(folder).List()
	if err != nil {
		return bad("data", "set "+source.Variable+" to a folder that can be read", "%v", err)
	}
	tables := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name, source.Bundled) {
			tables++
		}
	}
	return good("data", "%s at %s", say.Count(tables, "table"), folder)
}

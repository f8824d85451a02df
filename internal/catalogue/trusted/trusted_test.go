package trusted_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mercer-fl/mercer/internal/catalogue/trusted"
)

// home makes a folder with a file that nobody else can change.
func home(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err := errors.Join(err, os.Chmod(dir, 0o700), os.Mkdir(filepath.Join(dir, "in"), 0o700), os.WriteFile(filepath.Join(dir, "in", "p"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Links are followed, wherever they stand, and the answer has none.
func TestFind(t *testing.T) {
	dir := home(t)
	for link, target := range map[string]string{"file": "in/p", "folder": "in", "up": "../" + filepath.Base(dir) + "/in", "whole": filepath.Join(dir, "in"), "chain": "folder/../file"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"in/p", "./in//p", "in/../in/p", "file", "folder/p", "up/p", "whole/p", "chain"} {
		if got, err := trusted.Find(dir + "/" + path); err != nil || got != filepath.Join(dir, "in", "p") {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	if _, err := trusted.Find(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.Symlink("round", filepath.Join(dir, "round")); err != nil {
		t.Fatal(err)
	}
	if _, err := trusted.Find(filepath.Join(dir, "round")); err == nil || !strings.HasSuffix(err.Error(), "leads through more than 40 links") {
		t.Errorf("a ring of links: %v", err)
	}
}

// A user who can change the file, a folder on the way or a link to it could have put another one
// there.
func TestWhatOthersCanChange(t *testing.T) {
	in := func(dir string) string { return filepath.Join(dir, "in") }
	for _, tt := range []struct {
		name, path string
		change     func(dir string) error
		want       string
		root       bool
	}{
		{name: "file", path: "in/p", change: func(dir string) error { return os.Chmod(filepath.Join(dir, "in/p"), 0o620) }, want: "other users can write to this file; use chmod go-w "},
		{name: "folder", path: "in/p", change: func(dir string) error { return os.Chmod(in(dir), 0o702) }, want: "other users can write to a folder of the path; use chmod go-w "},
		{name: "folder above", path: "in/p", change: func(dir string) error { return os.Chmod(dir, 0o770) }, want: "other users can write to a folder of the path; use chmod go-w "},
		{name: "folder behind a link", path: "link", change: func(dir string) error {
			return errors.Join(os.Symlink("in/p", filepath.Join(dir, "link")), os.Chmod(in(dir), 0o777))
		}, want: "other users can write to a folder of the path; use chmod go-w "},
		{name: "folder of a link", path: "in/link", change: func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "q"), nil, 0o600), os.Symlink("../q", filepath.Join(dir, "in/link")), os.Chmod(in(dir), 0o777))
		}, want: "other users can write to a folder of the path; use chmod go-w "},
		{name: "folder that is left again", path: "in/../q", change: func(dir string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, "q"), nil, 0o600), os.Chmod(in(dir), 0o777))
		}, want: "other users can write to a folder of the path; use chmod go-w "},
		{name: "second name in a folder of all", path: "in/second", change: func(dir string) error {
			return errors.Join(os.Link(filepath.Join(dir, "in/p"), filepath.Join(dir, "in/second")), os.Chmod(in(dir), 0o777|fs.ModeSticky))
		}, want: "since the file has a second hard link; move the file to your own folder"},
		{name: "through proc", path: "proc", change: func(dir string) error { return os.Symlink("/proc/self/root", filepath.Join(dir, "proc")) }, want: "the path leads through /proc"},
		{name: "access list", path: "in/p", change: func(dir string) error { return allow(filepath.Join(dir, "in/p"), 12345) }, want: "other users can write to this file; use chmod go-w "},
		{name: "owner of the file", path: "in/p", change: func(dir string) error { return os.Chown(filepath.Join(dir, "in/p"), 12345, -1) }, want: "this file belongs to user 12345; change its owner", root: true},
		{name: "owner of the folder", path: "in/p", change: func(dir string) error { return os.Chown(in(dir), 12345, -1) }, want: "/in belongs to user 12345; change its owner", root: true},
		{name: "owner of a link", path: "link", change: func(dir string) error {
			link := filepath.Join(dir, "link")
			return errors.Join(os.Symlink("in/p", link), os.Lchown(link, 12345, -1))
		}, want: "/link belongs to user 12345; change its owner", root: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.root && os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			dir := home(t)
			err := tt.change(dir)
			if errors.Is(err, errNoLists) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := trusted.Find(dir + "/" + tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

// In a folder such as /tmp others can make files, but not replace this user's.
func TestFolderOfAll(t *testing.T) {
	dir := home(t)
	if err := os.Chmod(filepath.Join(dir, "in"), 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if _, err := trusted.Find(filepath.Join(dir, "in/p")); err != nil {
		t.Error(err)
	}
	if _, err := trusted.Folder(filepath.Join(dir, "in")); err == nil || !strings.HasPrefix(err.Error(), "other users can create files in this folder; use chmod go-w ") {
		t.Errorf("the folder: %v", err)
	}
	if got, err := trusted.Folder(dir); err != nil || got != dir {
		t.Errorf("a folder of this user: %s, %v", got, err)
	}
	if _, err := trusted.Folder(filepath.Join(dir, "in/p")); err == nil || !strings.HasSuffix(err.Error(), "/in/p is not a folder") {
		t.Errorf("a file: %v", err)
	}
}

var errNoLists = errors.New("this file system has no access lists")

// allow gives a user the right to write by an access list; to the owner, the group and
// others the file stays as with 0600.
func allow(path string, user uint32) error {
	list := binary.LittleEndian.AppendUint32(nil, 2) // version
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, ^uint32(0)}, {2, 6, user}, {4, 0, ^uint32(0)}, {16, 6, ^uint32(0)}, {32, 0, ^uint32(0)}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	err := setxattr(path, "system.posix_acl_access", list)
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EPERM) {
		return errNoLists
	}
	return err
}

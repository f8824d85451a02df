// Package trusted finds files that only the user of this process and root can have changed.
//
//	path, err := trusted.Find("/home/mercer/extract.sh")
//
// A path is walked from the root down: each folder, each link and the last element. A user who
// may write to a folder, or owns it, can replace its elements. Since only the two trusted users
// can change the walked path, it is still the same when it is used.
package trusted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the links of one path, as Linux does.
const maxLinks = 40

// byOthers are the rights of group and others to write. With a POSIX access list the group's
// rights are the most that any entry of the list has.
const byOthers = 0o022

// ErrProc refuses a path through /proc, which differs between processes.
var ErrProc = errors.New("it leads through /proc, whose content differs between processes")

// Find returns the path of a file or a folder, without links.
func Find(path string) (string, error) {
	w := walk{at: "/"}
	if err := w.judge("/"); err != nil {
		return "", err
	}
	for w.left = names(path); len(w.left) > 0; {
		if err := w.step(); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

// Folder returns the path, without links, of a folder in which no other user may create files.
func Folder(path string) (string, error) {
	found, err := Find(path)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(found)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is not a folder", found)
	case info.Mode().Perm()&byOthers != 0:
		return "", fmt.Errorf("other users may create files in it; use chmod go-w %s", found)
	}
	return found, nil
}

// walk is a path that is followed from element to element. No other user can change the elements
// already passed.
type walk struct {
	at    string // the walked path without links
	open  bool   // other users may create files here, and delete only their own
	left  []string
	links int
}

func names(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }

func (w *walk) step() error {
	name := w.left[0]
	w.left = w.left[1:]
	switch name {
	case "", ".":
		return nil
	case "..":
		w.at = filepath.Dir(w.at)
		return w.judge(w.at)
	}
	next := filepath.Join(w.at, name)
	if next == "/proc" {
		return ErrProc
	}
	info, err := os.Lstat(next)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		w.at = next
		return w.judge(next)
	}
	return w.follow(next, info)
}

// follow continues at the target of a link.
func (w *walk) follow(link string, info fs.FileInfo) error {
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%s leads through more than %d links", link, maxLinks)
	}
	if err := owned(info, "the link "+link); err != nil {
		return err
	}
	target, err := os.Readlink(link)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) {
		w.at = "/"
	}
	w.left = append(names(target), w.left...)
	return w.judge(w.at)
}

// judge refuses a place that other users can change.
func (w *walk) judge(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	what, more := "it", len(w.left) > 0
	if info.IsDir() && more {
		what = "its folder " + path
	}
	if err := owned(info, what); err != nil {
		return err
	}
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	stat := info.Sys().(*syscall.Stat_t)
	switch others := info.Mode().Perm()&byOthers != 0; {
	case others && !sticky && info.IsDir():
		return fmt.Errorf("other users may write to its folder; use chmod go-w %s", path)
	case others && !sticky:
		return fmt.Errorf("other users may write to it; use chmod go-w %s", path)
	case w.open && !info.IsDir() && stat.Nlink > 1:
		return fmt.Errorf("other users can have created %s, since the file has a second name; move it to your own folder", path)
	default:
		w.open = others
	}
	return nil
}

// owned refuses an element of another user.
func owned(info fs.FileInfo, what string) error {
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("user %d owns %s; give it to the user of this process, or to root", owner, what)
	}
	return nil
}

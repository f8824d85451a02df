// Package trusted finds files that only the user of this process and root can have changed.
//
//	path, err := trusted.Find("/home/mercer/extract.sh")
//
// A path is walked from the root down: each folder, each link and the last element. A user who
// is allowed to write to a folder, or owns it, can replace its elements. Since only the two trusted users
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

// maxLinks is the largest number of links in one path, as in Linux.
const maxLinks = 40

// byOthers holds the permission bits with which the group and others can write. With a POSIX access
// list, the group's bits are the maximum of all entries, so these bits cover the list, too.
const byOthers = 0o022

// ErrProc refuses a path through /proc, because the content of /proc differs between processes.
var ErrProc = errors.New("the path leads through /proc, whose content differs between processes")

// Find returns the path of a file or a folder, with links resolved. It returns an error if another
// user can have changed it.
func Find(path string) (string, error) {
	w := pathWalk{at: "/"}
	if err := w.checkElement("/"); err != nil {
		return "", err
	}
	for w.left = names(path); len(w.left) > 0; {
		if err := w.step(); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

// Folder returns the path of a folder, with links resolved. It returns an error if other users can
// create files there.
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
		return "", fmt.Errorf("other users can create files in this folder; use chmod go-w %s", found)
	}
	return found, nil
}

// pathWalk follows a path element by element. No other user can change the elements already passed.
type pathWalk struct {
	at    string // the path up to the current element, with links resolved
	open  bool   // whether other users can create files here, but delete only their own
	left  []string
	links int
}

func names(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }

func (w *pathWalk) step() error {
	name := w.left[0]
	w.left = w.left[1:]
	switch name {
	case "", ".":
		return nil
	case "..":
		w.at = filepath.Dir(w.at)
		return w.checkElement(w.at)
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
		return w.checkElement(next)
	}
	return w.followLink(next, info)
}

// followLink continues the walk at the target of a link.
func (w *pathWalk) followLink(link string, info fs.FileInfo) error {
	if w.links++; w.links > maxLinks {
		return fmt.Errorf("%s leads through more than %d links", link, maxLinks)
	}
	if err := checkOwner(info, "the link "+link); err != nil {
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
	return w.checkElement(w.at)
}

// checkElement returns an error if other users can change the file or folder at path.
func (w *pathWalk) checkElement(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	what, more := "this file", len(w.left) > 0
	if info.IsDir() && more {
		what = "the folder " + path
	}
	if err := checkOwner(info, what); err != nil {
		return err
	}
	sticky := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	stat := info.Sys().(*syscall.Stat_t)
	switch others := info.Mode().Perm()&byOthers != 0; {
	case others && !sticky && info.IsDir():
		return fmt.Errorf("other users can write to a folder of the path; use chmod go-w %s", path)
	case others && !sticky:
		return fmt.Errorf("other users can write to this file; use chmod go-w %s", path)
	case w.open && !info.IsDir() && stat.Nlink > 1:
		return fmt.Errorf("another user might have created %s, since the file has a second hard link; move the file to your own folder", path)
	default:
		w.open = others
	}
	return nil
}

// checkOwner returns an error unless this user or root owns the file or folder.
func checkOwner(info fs.FileInfo, what string) error {
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d; change its owner to root or the user of this process", what, owner)
	}
	return nil
}

//go:build linux

// Package powercut gives tests a disk that loses power. The disk forgets what no program has flushed: the
// bytes of a file until fsync of the file, and the names in a folder until fsync of the folder. POSIX promises
// no more, and common file systems keep more.
package powercut

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Loss says which unflushed writes a power cut takes.
type Loss int

// Real disks lose any of the unflushed writes. These three losses reveal most flushes that programs forget.
const (
	Everything Loss = iota // all that was not flushed
	Content                // unflushed bytes of files; all names stay, so that a file can be empty
	Names                  // unflushed names in folders; a file that still has a name has all its bytes
)

// Losses lists every Loss.
func Losses() []Loss { return []Loss{Everything, Content, Names} }

func (l Loss) String() string { return [...]string{"everything", "content", "names"}[l] }

// Disk is a file system in memory. It is safe for concurrent use.
type Disk struct {
	server *fuse.Server

	mu   sync.Mutex
	root *folder
}

// Mount mounts an empty disk at a folder. It needs /dev/fuse and the right to mount. The caller calls Unmount
// once no file of the disk is open.
func Mount(dir string) (*Disk, error) {
	d := &Disk{}
	d.root = d.newFolder()
	second := time.Second
	server, err := fs.Mount(dir, d.root, &fs.Options{
		EntryTimeout: &second, AttrTimeout: &second,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "powercut", Name: "powercut"},
	})
	if err != nil {
		return nil, fmt.Errorf("powercut: %w", err)
	}
	d.server = server
	return d, nil
}

// Unmount ends the disk.
func (d *Disk) Unmount() error { return d.server.Unmount() }

// State is the content of a disk at one moment, after a power cut.
type State struct {
	files   map[string][]byte
	folders map[string]State
}

// Cut returns what the disk would hold if it lost power now. The disk itself goes on.
func (d *Disk) Cut(l Loss) State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.root.cut(l)
}

// Write writes the state into an existing folder of another file system.
func (s State) Write(dir string) error {
	for name, b := range s.files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return fmt.Errorf("powercut: %w", err)
		}
	}
	for name, sub := range s.folders {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			return fmt.Errorf("powercut: %w", err)
		}
		if err := sub.Write(path); err != nil {
			return err
		}
	}
	return nil
}

// cut returns the state of a folder after a power cut. The caller holds the disk's mutex.
func (f *folder) cut(l Loss) State {
	s := State{files: map[string][]byte{}, folders: map[string]State{}}
	names := f.flushed
	if l == Content {
		names = f.now
	}
	for name, n := range names {
		switch n := n.(type) {
		case *folder:
			s.folders[name] = n.cut(l)
		case *file:
			s.files[name] = slices.Clone(n.flushed)
			if l == Names {
				s.files[name] = slices.Clone(n.now)
			}
		}
	}
	return s
}

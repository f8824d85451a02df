//go:build linux

package powercut

import (
	"context"
	"maps"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// folder is a directory. Its maps change only while the disk's mutex is held.
type folder struct {
	fs.Inode
	disk    *Disk
	now     map[string]fs.InodeEmbedder // children by name, each a *folder or a *file
	flushed map[string]fs.InodeEmbedder // children at the last fsync
}

var _ interface {
	fs.NodeLookuper
	fs.NodeCreater
	fs.NodeMkdirer
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeReaddirer
	fs.NodeFsyncer
	fs.NodeSetattrer
	fs.NodeStatfser
} = (*folder)(nil)

func (d *Disk) newFolder() *folder {
	return &folder{disk: d, now: map[string]fs.InodeEmbedder{}, flushed: map[string]fs.InodeEmbedder{}}
}

func modeOf(n fs.InodeEmbedder) uint32 {
	if _, is := n.(*folder); is {
		return fuse.S_IFDIR
	}
	return fuse.S_IFREG
}

// inode returns the kernel's view of a child and describes it in out. The caller holds the disk's mutex.
func (f *folder) inode(ctx context.Context, n fs.InodeEmbedder, out *fuse.EntryOut) *fs.Inode {
	out.Mode = modeOf(n) | 0o700
	if file, is := n.(*file); is {
		out.Mode = fuse.S_IFREG | 0o600
		out.Size = uint64(len(file.now))
	}
	return f.NewInode(ctx, n, fs.StableAttr{Mode: modeOf(n)})
}

// Lookup finds a child.
func (f *folder) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n, ok := f.now[name]
	if !ok {
		return nil, syscall.ENOENT
	}
	return f.inode(ctx, n, out), 0
}

// Create makes a file. The kernel calls it only if Lookup has not found the name.
func (f *folder) Create(ctx context.Context, name string, _, _ uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n := &file{disk: f.disk}
	f.now[name] = n
	return f.inode(ctx, n, out), nil, 0, 0
}

// Mkdir makes a folder.
func (f *folder) Mkdir(ctx context.Context, name string, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	n := f.disk.newFolder()
	f.now[name] = n
	return f.inode(ctx, n, out), 0
}

// Unlink removes the name of a file.
func (f *folder) Unlink(_ context.Context, name string) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	delete(f.now, name)
	return 0
}

// Rmdir removes an empty folder.
func (f *folder) Rmdir(_ context.Context, name string) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if sub, is := f.now[name].(*folder); is && len(sub.now) > 0 {
		return syscall.ENOTEMPTY
	}
	delete(f.now, name)
	return 0
}

// Rename moves a child, and replaces what has the new name.
func (f *folder) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	target, is := to.(*folder)
	if !is || flags != 0 {
		return syscall.ENOTSUP
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	target.now[newName] = f.now[name]
	if f != target || name != newName {
		delete(f.now, name)
	}
	return 0
}

// Readdir lists the folder.
func (f *folder) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(f.now)) {
		list = append(list, fuse.DirEntry{Name: name, Mode: modeOf(f.now[name])})
	}
	return fs.NewListDirStream(list), 0
}

// Fsync flushes the names.
func (f *folder) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.flushed = maps.Clone(f.now)
	return 0
}

// Setattr ignores every change of attributes, such as a change of mode, because tests need none.
func (f *folder) Setattr(context.Context, fs.FileHandle, *fuse.SetAttrIn, *fuse.AttrOut) syscall.Errno {
	return 0
}

// Statfs says that there is room.
func (f *folder) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	*out = fuse.StatfsOut{Bsize: 4096, Frsize: 4096, Blocks: 1 << 24, Bfree: 1 << 24, Bavail: 1 << 24, NameLen: 255}
	return 0
}

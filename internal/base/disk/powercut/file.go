//go:build linux

package powercut

import (
	"context"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// file is a regular file. Its bytes change only while the disk's mutex is held.
type file struct {
	fs.Inode
	disk    *Disk
	now     []byte
	flushed []byte // the bytes at the last fsync
}

var _ interface {
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeFsyncer
	fs.NodeFlusher
} = (*file)(nil)

// Open opens the file for any use. The kernel truncates it by Setattr.
func (f *file) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) { return nil, 0, 0 }

// Read reads from an offset.
func (f *file) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if off >= int64(len(f.now)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(dest[:copy(dest, f.now[off:])]), 0
}

// Write writes at an offset.
func (f *file) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.resize(max(len(f.now), int(off)+len(data)))
	return uint32(copy(f.now[off:], data)), 0
}

// resize cuts the file, or continues it with zeros.
func (f *file) resize(size int) {
	if size <= len(f.now) {
		f.now = f.now[:size]
		return
	}
	f.now = append(f.now, make([]byte, size-len(f.now))...)
}

// Getattr tells the size.
func (f *file) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	out.Mode, out.Size = fuse.S_IFREG|0o600, uint64(len(f.now))
	return 0
}

// Setattr changes the size. It ignores a change of mode, which tests do not need.
func (f *file) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if size, changes := in.GetSize(); changes {
		f.resize(int(size))
	}
	out.Mode, out.Size = fuse.S_IFREG|0o600, uint64(len(f.now))
	return 0
}

// Fsync flushes the bytes.
func (f *file) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.flushed = slices.Clone(f.now)
	return 0
}

// Flush does nothing: a close is no fsync.
func (f *file) Flush(context.Context, fs.FileHandle) syscall.Errno { return 0 }

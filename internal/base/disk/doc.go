// Package disk writes small files that must survive a crash: seeds, marks, approvals and
// tombstones.
//
// A function that returns nil has requested everything that POSIX offers: the file's bytes
// and its directory entry have been flushed (with F_FULLFSYNC on macOS). A program cannot
// control a drive's own cache.
package disk

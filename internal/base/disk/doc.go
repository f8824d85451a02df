// Package disk writes small files that must survive a crash: seeds, marks,
// approvals and tombstones.
//
// A function that returns nil has asked the operating system for everything
// POSIX offers: the file's bytes and the directory entry that leads to it have
// been flushed (with F_FULLFSYNC on macOS). A drive's work behind its own
// cache is beyond a program's reach.
package disk

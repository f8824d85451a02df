// Package disk writes files that must survive a crash, such as seeds, approvals and logs.
//
// A function that writes and returns nil has requested everything that POSIX offers: the file's
// bytes and its directory entry have been flushed (with F_FULLFSYNC on macOS). Only [Write] leaves
// the directory entry to [SyncDir]. A program cannot control a drive's own cache.
package disk

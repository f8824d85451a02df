// Package snapshot keeps the rows of a source that can change, so that a job that is
// replayed reads the same rows again. The rows are sorted, since a database gives them in any
// order.
//
//	if err := snapshot.Write(store, rows, []string{"patient"}); err != nil {
//	rows, err := snapshot.Read(store)
//
// Sorting is an external merge sort. It holds 8 MiB of rows, or the longest row, and 100 KiB
// for each of the at most 32 runs of a merge and of each level. The store holds at most twice the table meanwhile.
package snapshot

import "io"

// Store holds streams by name. What it writes to a disk is sealed.
type Store interface {
	// Write makes a stream durable, all of it or nothing.
	Write(name string, write func(io.Writer) error) error
	Open(name string) (io.ReadCloser, error)
	Remove(name string) error
}

// Name is the name of the whole snapshot. Others are of runs, while rows are sorted.
const Name = "snapshot"

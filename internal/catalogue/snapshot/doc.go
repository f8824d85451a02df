// Package snapshot stores the rows of a source that may change, so that a replayed job reads the
// same rows again. Write sorts the rows, because a database returns them in any order. Keep leaves
// the rows of a file in their order.
//
//	if err := snapshot.Write(store, rows, []string{"patient"}); err != nil {
//	rows, err := snapshot.Read(store)
//
// Sorting is an external merge sort. It holds 4 MiB of rows, or one that is longer, and for each
// run of a merge 100 KiB and a row; 32 runs are merged at a time, and at the end at most 31 of each
// of the levels, of which 16 GiB have three. The store holds at most twice the table meanwhile.
package snapshot

import "io"

// Store holds byte streams by name. Streams on disk are encrypted.
type Store interface {
	// Write stores a stream durably, either completely or not at all.
	Write(name string, write func(io.Writer) error) error
	Open(name string) (io.ReadCloser, error)
	Remove(name string) error
}

// Name is the stream of a whole snapshot. Streams with other names hold sorted runs.
const Name = "snapshot"

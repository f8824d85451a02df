// Package snapshot stores the rows of a source that can change, so that a replayed job reads the
// same rows again. Write sorts the rows, because a database returns them in any order. Keep leaves
// the rows of a file in their order.
//
//	if err := snapshot.Write(store, rows, []string{"patient"}); err != nil {
//	rows, err := snapshot.Read(store)
//
// Package extsort sorts the rows: it holds in memory 4 MiB of them, or one longer row. During
// the sorting, the store holds at most twice the table.
package snapshot

import "github.com/mercer-fl/mercer/internal/base/extsort"

// Store holds byte streams by name. A store on disk writes them durably, and encrypts them.
type Store = extsort.Store

// Memory is a store in memory, for processes that keep no data.
type Memory = extsort.Memory

// Name is the stream of a whole snapshot. Streams with other names hold sorted runs.
const Name = "snapshot"

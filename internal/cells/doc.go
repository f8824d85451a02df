// Package cells shares the work of a grid among processes, through a folder.
//
// A coordinator writes the inputs of a cross-validation into the folder, waits, and takes the
// results. Each other process computes one cell, or a few, and ends. A cell is one kernel on one fold,
// with all settings of the learner. Which process computes which cell is decided by any program that starts
// processes: xargs, Dask, Slurm.
//
//	offer := &cells.Offer{Path: "/shared/cells", Wait: time.Minute, Build: build, Logger: log} // the coordinator
//	...
//	err := cells.Compute(ctx, "/shared/cells", names, build, reader, done)                       // another process
//
// The folder has these files:
//
//	FOLDER.key        32 random bytes, mode 0600, new for each job
//	FOLDER/inputs     the inputs, sealed under the key
//	FOLDER/NAME       the result of a cell, sealed under the key and bound to its name
//	FOLDER/NAME.lock  locked while a process computes the cell
//	FOLDER/lock       locked while a coordinator uses the folder
//
// A result's name is an HMAC-SHA-256, with the folder's key, of the type of work, the inputs' digest, the
// cell, the program's build and the processor's instructions. So the results of other inputs, builds or
// instructions have other names. A result is written under a temporary name and then renamed. Processes do
// not compute a cell that has a result.
//
// The inputs are a Gram matrix, labels and folds. They contain no key of a party, of a ledger or of
// an identity. A process with the folder's key can read the inputs and write results: it is trusted
// like the coordinator. Without the key, a process learns how many cells there are, their sizes and
// times. If it can write to the folder, it can remove files and hold locks, but it cannot forge a
// result: the coordinator computes the cells without a result.
package cells

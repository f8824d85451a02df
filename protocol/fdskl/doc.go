// Package fdskl lets workers train a kernel machine by random features, where each worker holds
// different columns of the same rows. One of them, the active worker, has the labels; the others
// are passive. There can be several active workers, each with the labels of some rows.
//
// Source: Gu, Dang, Li, Huang, "Federated Doubly Stochastic Kernel Learning for Vertically
// Partitioned Data", KDD 2020, arXiv 2008.06197: Algorithms 1 to 3. This package is Algorithm 3,
// the sum of phases, and the requests for it. The caller supplies Algorithms 1 and 2, the learner,
// as a [Schedule] of requests.
//
// For direction w_j and row x_i, of which worker l holds some columns, the phase w_j.x_i is the sum
// of w_j,l.x_i,l over the workers. Cosines of phases are the features of the row. A phase is a
// number modulo 2^Bits, where 2^Bits is a full turn. This loses nothing, because cosines ignore
// whole turns, and it lets masks be uniform and cancel exactly. The paper's masks are real numbers
// from [0, 2 pi), so a masked phase reveals something about the phase.
//
// Rounds:
//
//	1 Keys     worker -> worker    an X25519 key of this session (hardened)
//	then, for each request:
//	2 Request  active -> others    rows and directions, signed
//	3 Witness  worker -> worker    the request's hash and signature, to the next worker
//	4 Phases   child -> parent     sums of masked words, in chunks; Room the other way
//	5 Masks    child -> parent     sums of masks, up another tree (paper)
//	6 Finish   active -> others    no more requests; the last Finish ends the session
//	and among several active workers:
//	7 Shares   active -> active    parts of the model function f at the rows of a request
//	8 Turn     active -> active    who makes the next iteration, and who has signed that it needs no more
//
// A passive and an active worker, training mode cached:
//
//	params, err := fdskl.NewParams(fdskl.Spec{Rows: n, Directions: 1024, Alignment: commitment})
//	passive, err := fdskl.NewPassive(setup, fdskl.Input{Source: phases, Hash: hash, Rows: n, Alignment: commitment}, fdskl.Identity{Keys: keys})
//	// elsewhere
//	table := fdskl.NewTable(params)
//	active, err := fdskl.NewActive(setup, input, fdskl.Identity{Sign: sign, Keys: keys}, table)
//	// a runner calls Step until all have ended; then
//	words := table.Words()
//
// # Modes
//
// In mode hardened each worker draws the directions of its own columns from a secret key. Their
// joint distribution equals that of common directions, since columns are independent. Each pair of
// workers agrees on masks, which cancel in the sum of all. Masks are bound to the request: session,
// counter, rows, directions, tree.
//
// In mode paper directions are the same for all, so [Source] uses a common seed. Each worker masks
// with its own numbers, whose sums go up a second tree. This package resolves gaps and errors of
// the paper as follows:
//
//   - The phase b of a direction is the same for all rows. The worker that adds
//     it is drawn once for each direction.
//   - Masks are fresh for each (row, direction, request). One mask for each
//     direction, as line 2 of Algorithm 3 reads, is a pad used for all rows: its
//     receiver sees the difference of any two rows' phases.
//   - All workers but the root, which sends no words, mask their words, and their
//     masks go up the second tree. Definition 2, totally different trees, admits
//     trees that leak; this package requires [SafeTrees] instead.
//   - A row that is drawn twice meets a new direction each time: directions are
//     counted by requests, and not by rows.
//
// # Requests
//
// A request is rows times directions. Requests are counted. A worker answers each count once, and
// each (row, direction) once: the directions of a row must be requested in ascending order. Rows
// belong to the agreed alignment. An invalid request is refused and blamed on the active worker.
// Requests are signed, and each worker shows the request that it received to the next worker. An
// active worker that requests different rows from different workers under one counter, to isolate
// one worker, is exposed by its two signatures, and in mode hardened receives noise in any case.
//
// # Several active workers
//
// Each active worker has its own directions with their coefficients, and is the root of its own
// trees. A request that begins an iteration asks the other active workers for their parts of f at
// its rows, for which they might have to make requests of their own: see [Partner]. If they take
// turns, one iteration after the other, the result equals that of a single learner. Asynchronously,
// parts of f can be some iterations old, and steps should be shorter: gamma over the number of
// active workers. The paper adds parts of f up in a tree; here they go directly to the requesting
// worker, which sees each of them.
//
// # Predictions
//
// A prediction is a session with a parent, over new aligned rows; workers use the same directions
// again. Training claims its phases permanently in each worker's ledger, so that one input with one
// key serves one training session.
//
// # Memory
//
// A worker holds at most 8 chunks of 512 KiB for each tree of each active worker, whatever the
// number and speed of its senders: a child sends more only when its parent grants room. See
// [Params.HeldBytes]. The active worker passes answers to its schedule, chunk by chunk, and keeps
// no copy.
//
// # Who learns what
//
//   - The active worker learns the sum of the others' phases for every row that it
//     asks for. Differences of these show the kernel, hence the distance, of any
//     two rows over the others' columns, to (2 M)^-1/2 with M directions. With two
//     workers, the sum is the other worker's phases. Phases that do not wrap
//     around are linear in the columns: lattice reduction reads values on a grid.
//   - In mode paper that is enough for the data themselves: unwrapped phases are
//     linear equations with known coefficients.
//   - Where several are active, each learns this for its own directions, and the
//     others' parts of f. With one iteration made, such a part is a coefficient
//     times a feature.
//   - A passive worker learns which rows are used when. Words that it adds up are
//     uniformly random to it.
//   - A coalition with the active worker learns the sum over the remaining workers,
//     even over a single one; a coalition without it learns nothing. In mode paper
//     coalitions are not considered.
//
// [Leakage] states this for a given job, and [Table.Expose] measures how well the phases show the
// kernel.
//
// # What is not promised
//
// Workers' phases cannot be verified: wrong phases, or a wrong key, spoil the sum, and nobody can
// detect whose they were. Distances and some known rows can reveal the other rows. Predicted rows
// join the training rows. This page makes no statement about what labels or decisions reveal.
package fdskl

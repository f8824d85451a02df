// Package fdskl lets workers who hold different columns of the same rows train a
// kernel machine by random features. One of them, the active worker, has the
// labels; the others are passive. There may be several active workers, each with
// labels of some rows.
//
// Source: Gu, Dang, Li, Huang, "Federated Doubly Stochastic Kernel Learning for
// Vertically Partitioned Data", KDD 2020, arXiv 2008.06197: Algorithms 1 to 3.
// This package is Algorithm 3, the sum of phases, and the announcement of what
// is to be summed. Algorithms 1 and 2, the learner, are a [Schedule] of requests
// that the caller gives.
//
// For direction w_j and row x_i, of which worker l holds some columns, the phase
// w_j.x_i is the sum of w_j,l.x_i,l over the workers. Cosines of phases are the
// features of the row. A phase is a number modulo 2^Bits, a full turn being
// 2^Bits, which costs nothing since cosines do not see whole turns; so masks can
// be uniform, and cancel exactly. The paper's masks are real numbers from
// [0, 2 pi), and a masked phase then tells something of the phase.
//
// Rounds:
//
//	1 Keys     worker -> worker    an X25519 key of this session (hardened)
//	then, for each request:
//	2 Request  active -> passive   rows and directions, signed
//	3 Witness  passive -> passive  the request's hash and signature, to the next
//	4 Phases   child -> parent     sums of masked words, in chunks; Room the other way
//	5 Masks    child -> parent     sums of masks, up another tree (paper)
//	6 Finish   active -> passive   no more requests; all end
//	and among several active workers:
//	7 Shares   active -> active    parts of f at the rows of a request
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
// In mode hardened each worker draws the directions of its own columns from a key
// that nobody else has: their joint law is the law of common ones, since columns
// are independent. Masks are agreed on by each pair of workers and cancel in the sum
// of all. They are bound to the request: session, counter, rows, directions,
// tree.
//
// In mode paper directions are the same for all, so that [Source] uses a common
// seed; each worker masks with numbers of its own, whose sum go up a second
// tree. What the paper leaves open or gets wrong is settled thus:
//
//   - The phase b of a direction is the same for all rows. The worker that adds
//     it is drawn once for each direction.
//   - Masks are fresh for each (row, direction, request). One for each direction,
//     as line 2 of Algorithm 3 reads, is a pad used for all rows: its receiver
//     sees the difference of any two rows' phases.
//   - All workers mask, and the masks of all go up the second tree. Definition 2,
//     totally different trees, admits trees that leak; [SafeTrees] is the test
//     that this one upstream sums.
//   - A row that is drawn twice meets a new direction each time: directions are
//     counted by requests, and not by rows.
//
// # Requests
//
// A request is rows times directions. A passive worker answers each counter
// once, and each (row, direction) once: a row is asked for directions in
// ascending order. Rows belong to the agreed alignment. A request that is out of place
// is refused with the active worker's name. Requests are signed, and each
// passive worker shows its own to the next, so that an active worker that asks
// different workers for different rows under one counter, hoping to single one
// out, is named by its two signatures; what it gets is noise in any case.
//
// # Several active workers
//
// Each has directions of its own and the coefficients that belong to them, and is
// the root of its own trees. A request that begins an iteration asks the other
// active workers for their parts of f at its rows, for which they may have to
// make requests of their own: a [Partner]. In turns, one iteration after the
// other, the result equals one learner's; asynchronously, parts of f may be
// some iterations old, and steps should be shorter, gamma over the number of
// active workers. The paper adds parts of f up in a tree; here they go straight
// to the worker who asks, which sees each of them.
//
// # Predictions
//
// A prediction is a session with a parent, over new aligned rows: workers use the
// same directions again. Training claims its phases permanently in each worker's
// ledger, so that one input with one key answers one session.
//
// # Memory
//
// A worker holds at most 8 chunks of 512 KiB for each tree, however many send to
// it and however slow the slowest is: a child sends on when its parent says that
// there is room. [Params.HeldBytes]. The active worker's answers go to its
// schedule, chunk by chunk; a [Table] is the only copy.
//
// # Who learns what
//
//   - The active worker learns the sum of the others' phases for every row that it
//     asks for. Differences of these show the kernel, hence the distance, of any
//     two rows over the others' columns, to (2 M)^-1/2 with M directions. With two
//     workers, that is the one passive worker's phases.
//   - In mode paper that is enough for the data themselves: unwrapped phases are
//     linear equations with known coefficients.
//   - Where several are active, each learns this for its own directions, and the
//     others' parts of f. With one iteration made, such a part is a coefficient
//     times a feature.
//   - A passive worker learns which rows are used when. Words that it adds up are
//     uniformly random to it.
//   - A coalition with the active worker learns the sum over the rest, even of one;
//     one without it learns nothing. In mode paper coalitions are not considered.
//
// [Leakage] says so for a given job, and [Table.Expose] measures the distances.
//
// # What is not promised
//
// Nobody can verify a worker's phases: wrong ones, or a wrong key, spoil the sum,
// and nobody can tell whose they were. Distances and some known rows may give the
// others. Predicted rows join the training rows. Nothing is said of what labels
// or decisions tell.
package fdskl

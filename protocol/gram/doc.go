// Package gram computes exact linear Gram matrices of rows whose columns different parties hold.
// It follows Polato, Gallinaro and Aiolli, "Privacy-preserving kernel computation for vertically
// partitioned data", section 2. Fixed point, offsets and the proof that nothing overflows are
// Mercer's:
//
//	X X^T = sum_l X_l X_l^T
//
// Every holder computes its own term in whole numbers, and secure aggregation adds the terms up
// (protocol/secagg). This package has no session of its own.
//
//	p, err := gram.NewParams([]gram.Holder{{Columns: 2, Exponent: 0}, {Columns: 3, Exponent: 1}}, 300, 100)
//	part, err := p.Part(rows, holder) // of one holder: a vector for secagg
//	... // add all parts; then
//	dot := p.Matrix(sums)
//
// # Fixed point
//
// A value x is represented by the whole number nearest to 2^s x, halves to even, with one scale s
// for all holders ([Params.Scale]). The scale is 0 if all holders declare whole numbers, which are then
// exact; otherwise s is the largest number from 8 to 24 that keeps sums up to 2^53. Holder l's
// values have |x| <= v_l = 2^e_l, so its entries are at most
//
//	B_l = d_l (2^s v_l)^2
//
// with d_l columns; each holder refuses its own larger values. NewParams requires sum B_l <= 2^53,
// so float64 holds every sum, and computes every part, without rounding. Entries are signed, so
// secagg adds an offset B = max B_l to each; with q <= 1024 holders q (B + B) + 1 <= 2^64, and no
// lane overflows.
//
// # What is summed
//
// For n training and m held-out rows: the upper triangle of the training rows in tiles of 64 x 64,
// the cross-Gram of held-out with training rows in such tiles, and each held-out row's product with
// itself. Products of held-out rows with each other are not needed and not summed. For new rows
// with a model's rows ([NewCrossParams]) the triangle is omitted too: the server already has it.
//
// # Who learns what
//
//   - The server learns the sums: X X^T over all columns, except pairs of held-out
//     rows. It can compute all other distances between rows. If rows of whole numbers,
//     counts and one-hot codes outnumber the columns, they can be read back from the
//     matrix, up to order and sign of the columns.
//   - A holder learns nothing of another's columns but what all declare: their
//     number, the bound 2^e, and whether they are whole numbers.
//   - The server and all holders but one together learn the last holder's X_l X_l^T.
//     With two holders the server and one of them suffice.
//
// # What is not promised
//
// That the parts are right: a holder can add anything. That two jobs which differ by one column
// hide that column: the difference of their sums is x x^T, the column up to sign. Parties therefore
// keep a ledger of their releases.
package gram

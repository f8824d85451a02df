// Package scale computes one scaling of each column for parties that hold different
// rows of the same columns, without the server. The parties send summaries of
// their columns to the leader, a party itself, and the leader sends the scaling
// back.
//
//	x' = (x - offset) factor
//
// With method minmax the offset is the least value over all parties and the
// factor 1/(greatest - least), so that every column fills [0, 1], as in
// scikit-learn's MinMaxScaler; the result equals the pooled rows' scaling
// exactly. With method standard the offset is the mean and the factor 1/(standard
// deviation, with divisor n), as in StandardScaler. A column that is constant over
// all parties, up to rounding, gets factor 0 and becomes 0, in new rows too; scikit-learn would
// keep the difference.
//
// Source: none; plain statistics. Standard deviations are combined by the
// updating formula of Chan, Golub and LeVeque ("Updating formulae and a
// pairwise algorithm for computing sample variances", STAN-CS-79-773, 1979)
// from counts, means and sums of squared deviations, in the order of the
// descriptor. Sums of raw squares would lose the deviation of a column with a
// large mean to cancellation. With values around 1 the result is within 1e-12
// of the pooled rows; in general a mean is sent as a float64, so a column whose
// mean is 10^k deviations away from 0 loses k digits.
//
// Rounds:
//
//	1  Statistics  party -> leader   rows, and two numbers for each column
//	2  Combined    leader -> party   offset and factor of each column
//
// # Who learns what
//
// The leader learns how many rows each party has and, for each party and
// column, the least and greatest value (minmax) or the mean and the standard
// deviation (standard). A least or greatest value is the real value of some
// person. With one row the statistics are that row; with two rows they give
// the two values of every column. A party without training rows reports 0 rows and
// zeros, and receives the scaling like the others.
//
// The other parties learn the scaling only, not the number of rows. But a common
// minimum below a party's own is the real value of a person elsewhere, and with two
// parties it is the other party's own minimum. With method standard and two parties,
// a party that guesses the other's number of rows can compute its means and
// deviations.
//
// The server takes no part and learns nothing. The broker sees who sends to whom, when
// and how much. Bodies are padded to a power of two of columns, at least 64, so
// the sizes reveal the number of columns within a factor of two, or that there are at most 64.
//
// A coalition that includes the leader knows what the leader knows. A coalition
// of parties without the leader learns no more than one party with all their rows
// would.
//
// # What is not promised
//
// Nothing is verified: a party that lies about its statistics changes the scaling
// for all, and a leader that lies can send each party another scaling. (With
// method minmax a party refuses a scaling that its own rows do not fit.) The
// later steps of a job compare the scalings that the parties use.
//
// # Example
//
//	statistics, err := scale.Summarize(rows, scale.MinMax)
//	...
//	setup := protocol.Setup{Session: session, Self: "south", Seed: seed}
//	party, err := scale.NewParty(setup, statistics)
//	...
//	// a runner feeds party with Start{InputHash: statistics.Hash()} and so on
//	scaling := party.Result()
//	scaled := scaling.Rows(rows)
package scale

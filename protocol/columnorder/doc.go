// Package columnorder lets parties that hold different rows of the same columns agree
// on the order of these by their names, without the server, before anything is
// computed. The leader, a party itself, tells all others keyed digests of its
// columns' names in their order; each finds them among its own and says which it
// has not. So tables with the same columns in other orders become one table, and
// a column that somebody lacks, or calls otherwise, is found out.
//
// Names are compared exactly. Two that differ only by case, blanks or Unicode form
// ([fuzzymatch.Fold]) are different names, and the message about them says so. A table
// without names is numbered: its columns are taken by position, and it goes
// together only with other such tables, of its width.
//
// Where classes are told apart, the parties also tell the leader the names of those
// that they have, once they have found all its columns. Two that differ only by case,
// blanks or Unicode form are refused: they would be trained as two classes.
//
// Source: none; scikit-learn's estimators compare names likewise
// (feature_names_in_), within one process.
//
// Rounds:
//
//	1  Heading  leader -> party   a key, the width, and for each column two digests
//	2  Match    party -> leader   it has the leader's columns and no others; its classes
//	   Mismatch party -> leader   which of the leader's columns it lacks
//	3  Verdict  leader -> party   what keeps the tables from going together, if anything
//
// With a key drawn from the leader's seed, the digests of a name are the first 16
// bytes of HMAC-SHA256(key, "exact" || name), and the first 8 of
// HMAC-SHA256(key, "folded" || fuzzymatch.Fold(name)).
//
// # Who learns what
//
// Every party learns the width of the leader's table and, by its own names, where
// each stands there; of a name that it does not have it learns a digest, against
// which it can test guesses, since it has the key. The leader learns of each party
// how many columns it has more, which of its own the party lacks (the first eight,
// and how many), and where there are classes, their names. A leader that makes
// columns up can so ask for a few names in a session; that session then fails for
// all to see.
//
// The server takes no part and learns nothing. The broker sees who talks, when and
// how much; bodies are padded to a power of two of columns, at least 64, and
// answers and verdicts to a power of two of bytes, at least 1,024. Of numbered tables the sizes
// tell nothing.
//
// # What is not promised
//
// That a column holds what its name says, or in the same unit. That the parties tell
// the truth: a party that says that all is well and trains on columns in another
// order spoils the model, as it can with any false rows.
//
// # Example
//
//	table := columnorder.Table{Columns: []string{"age", "sbp"}, Width: 2}
//	party, err := columnorder.NewParty(setup, table)
//	...
//	// a runner feeds party with Start{InputHash: table.Hash()} and so on
//	order := party.Order() // of this table's columns, by place in the leader's
package columnorder

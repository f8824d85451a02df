// Package columnorder puts the columns of all parties into one order, by their names.
// The parties hold different rows of the same columns. The leader, a party itself, sends
// the others keyed digests of its column names, in the order of its columns. Each party
// looks for these digests among those of its own names, and reports the columns that it
// lacks. So tables with the same columns in different orders become one table, and missing
// or renamed columns are detected before the job computes anything. The server takes no part.
//
// Names are compared exactly. Two names that differ only by case, blanks or Unicode form
// ([fuzzymatch.Fold]) are different, and the error says so. A table without names is
// numbered: its columns match by position, and it matches only other numbered tables
// of its width.
//
// If classes are compared, a party that has exactly the leader's columns also sends
// the leader its class names. Class names that differ only by case, blanks or Unicode
// form are refused: they would be trained as two classes.
//
// Source: none; scikit-learn's estimators compare names likewise
// (feature_names_in_), within one process.
//
// Rounds:
//
//	1  Heading  leader -> party   a key, the width, and for each column two digests
//	2  Match    party -> leader   it has the leader's columns and no others; its classes
//	   Mismatch party -> leader   the leader's columns that it lacks
//	3  Verdict  leader -> party   the reasons why the tables do not match, if any
//
// With a key drawn from the leader's seed, the digests of a name are the first 16
// bytes of HMAC-SHA256(key, "exact" || name), and the first 8 of
// HMAC-SHA256(key, "folded" || fuzzymatch.Fold(name)).
//
// # Who learns what
//
// Every party learns the width of the leader's table and the places of its own names
// there. For a name that it does not have it learns two digests. It has the key, so it can
// test guesses at that name. If tables do not match, every party learns which, and the places
// of the leader's columns that they lack. The leader learns how many columns each party has,
// which of the leader's columns the party lacks (their number, the first eight, and whether
// it has a similar name instead), and the names of the party's classes, if classes are
// compared and the columns match. A leader that invents columns can therefore test a few
// names in a session; that session then fails visibly.
//
// The server takes no part and learns nothing. The broker sees who sends to whom, when and
// how much. Bodies are padded to a power of two of columns, at least 64, and
// answers and verdicts to a power of two of bytes, at least 1,024. The sizes reveal
// nothing about the columns of numbered tables.
//
// # What is not promised
//
// A column can hold other values than its name says, or another unit. A party can lie: if
// it reports a match and trains on columns in another order, it spoils the model, as it
// can with any false rows.
//
// # Example
//
//	table := columnorder.Table{Columns: []string{"age", "sbp"}, Width: 2}
//	party, err := columnorder.NewParty(setup, table)
//	...
//	// a runner feeds party with Start{InputHash: table.Hash()} and so on
//	order := party.Order() // for each column of the leader, its index in this table
package columnorder

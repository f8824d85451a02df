// Package release is a party's ledger of what it has let out of its data in jobs
// between holders of columns, and what a further job would give away beside it.
//
// Two sums over the same rows, one with a column and one without, differ by that
// column's product with itself: no protocol hides it from who sees both. So a
// release that differs from an earlier one over some of the same rows, in peers,
// columns, their values or scaling, or rows, is held until the operator has
// approved it. One that is the same as an earlier one passes. Which rows a job
// holds out is not looked at: in time all products become known.
//
// The ledger is a folder:
//
//	ID.released   what a session has let out, written before the session begins
//	ID.held       what the operator has not approved
//	ID.approved   what the operator has approved and no session has let out yet
//	lock          held while the ledger is read and then changed
//
// where ID follows from kind, peers, columns and rows. A crash leaves each file as
// it was before or after, and no lock behind.
package release

// Package disclosure keeps a party's ledger of the data that it has let out, and judges
// what a further job would give away beside it.
//
// Two sums over the same rows, one with a column and one without, differ by that
// column's product with itself; two sums over rows that differ by a person, by that
// person: no protocol hides it from an observer of both. So a release that differs from an
// earlier one over some of the same rows is held until the operator has approved it.
// What counts as a difference depends on the kind:
//
//	rows      encoded (okra): other columns, label, scaling or fit; other values of the
//	          same rows; people whose sums are out
//	sums      of features (moments): fewer than 10 people more or less, or of a class; other
//	          peers, columns or values of the same rows; people whose rows are out; the same
//	          rows more than 20 times, or in more numbers than they have cells; a split that the
//	          job chooses, each by itself
//	products  of rows (gram): peers, columns, scaling, fit, values, rows
//	phases    of rows (fdskl): as for products, and a bound on directions over all jobs
//	fit       of a dictionary (jobs of kind Fit): other rows or peers
//	ids       that others look for (psi): peers, ids, and a bound on the ids that each
//	          peer has brought, over all sessions
//	all       another schema over the same table, or over some of its people
//
// Releases of editions (tables that the home has frozen for a data dictionary) are compared by words: of one
// table and dictionary the home finds out, when it makes an edition, what it would tell of one to nine people beside
// each earlier one. No row of them is read. Of two tables it is looked at who is in both.
//
// More rows of a model that is asked about later are no difference. Only sums and fits look at
// which rows a job holds out: in time all products become known.
//
// Rows are kept as digests under a key of the ledger that never leaves it: 16 bytes
// for the person (the id, or the place in a table without ids), 16 for the values.
// The ledger is a folder:
//
//	key                   of all digests
//	KIND-ID.released      what a session has let out: an edition's name, or 32 bytes a row, 34 of sums and 40
//	                      with labels, and 16 more where rows are of groups; and columns' names
//	EDITION.people        who is in an edition of which something is out: 16 bytes a person
//	KIND-ID.admitted      what a session that has begun may let out; gone if it does not
//	ID.held, ID.approved  what waits for the operator, or may pass next: words, no rows
//	ID.told               the same of what was approved and is out
//	peers                 how many ids each peer has brought, in how many sessions
//	lock                  held while the ledger is read and then changed
//
// where ID follows from what is let out (kind, peers, columns, scaling, edition, or rows
// and values), not from the job. A crash leaves each file as it was before or after, and
// no lock behind. Checking a release takes 64 bytes of memory a row, if it has no edition, and reads every
// release of its kind; there are 1,024 at most, and of okra and of questions about a
// model, which only add rows, one grows in the place of many.
package disclosure

// Package disclosure keeps a party's ledger of released data, and finds what a new job would reveal
// together with earlier jobs.
//
// Two sums over the same rows, one with a column and one without, differ by that column's product with
// itself. Two sums over rows that differ by a person differ by that person's row. No protocol hides
// this from an observer of both. So a release that differs from an earlier one over some of the same
// rows waits until the operator has approved it. What counts as a difference depends on the kind:
//
//	rows      encoded (okra): other columns, label, weights, scaling or fit; other values of the
//	          same rows; people who are in released sums or models
//	sums      of features (moments): fewer than 10 people more or less, or of a class; other
//	          peers, columns or values of the same rows; people whose rows were released; the
//	          same rows more than 20 times, or in more numbers than they have cells; a split
//	          that the job chooses, each by itself
//	models    that keepers open (sealed): fewer than 10 people more or less, or of a class; other
//	          values of the same rows; people whose rows were released; the same rows more than
//	          3 times, or in more numbers than a quarter of their cells; models are also
//	          compared with sums, and sums with models
//	products  of rows (gram): peers, columns, scaling, fit, values, rows
//	phases    of rows (fdskl): as for products, and a bound on directions over all jobs
//	fit       of a dictionary (jobs of kind Fit): other rows or peers
//	ids       that others look up (psi): peers, ids, and a bound on the ids that each
//	          peer has looked up, over all sessions
//	noise     by which a job is differentially private: nothing; the costs of all jobs over a
//	          table add up, and what exceeds the table's budget is refused
//	all       another schema over the same table, or over some of its people; not for noise
//
// An edition is a copy of a table that the party's home (its folder of keys, settings and data) has
// frozen for a data dictionary. Releases of two editions of one table are compared without reading rows:
// when the home makes an edition, it finds out whether the edition, together with each earlier one, would
// reveal something about one to nine people. For editions of two tables the ledger only checks who is in
// both.
//
// Further rows for one model, from its job or from later questions about it, are no difference (except in
// sums and models). Only sums and fits depend on which rows a job holds out; products of all rows become
// known in time.
//
// The ledger stores rows as digests under a key that never leaves it: 16 bytes for the person (the id,
// or the place in a table without ids), 16 for the values. The ledger is a folder:
//
//	key                   the key of all digests
//	KIND-ID.released      the release of a session: an edition's ID, or 32 bytes a row (34 for sums and models with
//	                      labels, 40 for other kinds with labels, 16 more with groups, 8 more with weights); and
//	                      columns' names
//	EDITION.people        who is in a released edition: 16 bytes a person
//	KIND-ID.admitted      the release that a session which has begun may make; removed if it does not make it
//	ID.held, ID.approved  a release that awaits approval, or is approved: words, no rows
//	ID.told               the same words about an approved release that was disclosed
//	peers                 how many ids each peer has looked up, in how many sessions
//	lock                  held while the ledger is read and then changed
//
// ID follows from the content of the release (such as kind, peers, columns, scaling, edition, or rows and
// values), not from the job. Only the ID of noise also follows from the job, which pays for it. A crash
// leaves each file as it was before or after, and no lock behind.
// Checking a release without an edition takes 66 bytes of memory a row, and reads every release. The
// people of editions are sorted on the disk and compared as streams. A ledger has at most 1,024 releases
// of a kind. Releases of okra, and questions about a model, only add rows; each of them is merged into
// one release.
package disclosure

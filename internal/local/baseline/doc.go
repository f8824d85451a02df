// Package baseline computes the baselines of a job's result: the same learner on the rows
// of all parties in one place, and each party alone. It also runs jobs of protocol pooled.
// No daemon links it: a daemon has no code that sees two parties' rows.
package baseline

// Package baseline computes the baselines of a job's result. One trains the same learner on the
// rows of all parties in one place; the other trains each party alone. The package also runs jobs
// of protocol pooled. No package of a daemon imports it: a daemon runs no code that sees two parties'
// rows.
package baseline

// Package local compares FDSKL jobs with the same training in one place. It also measures how well the
// label holder can compute the kernel over the other parties' columns. It runs in a process that owns all
// columns.
package local

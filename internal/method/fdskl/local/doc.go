// Package local compares FDSKL jobs with the same training in one place, and measures what the
// label holder could find out. It runs in a process that owns all columns.
package local

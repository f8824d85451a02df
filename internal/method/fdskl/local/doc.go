// Package local has the parts of FDSKL for a process that owns all columns. It compares a job with
// the same training in one place, and measures what the label holder could find out.
package local

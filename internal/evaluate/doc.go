// Package evaluate fits a job's learner on a linear Gram matrix and measures
// it on held-out rows. The coordinator uses it on the Gram matrix that a
// protocol produced; the launching process, which owns the data, uses it on
// raw rows for the comparisons: pooled (what privacy cost) and alone (what
// joining gained). One function fits all three.
package evaluate

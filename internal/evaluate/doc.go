// Package evaluate fits a job's learner on a linear Gram matrix and measures
// it on held-out rows. The coordinator uses it on the Gram matrix that a
// protocol produced; the launching process, which owns the data, uses it on
// raw rows for the comparisons: pooled (what privacy cost) and alone (what
// joining gained). One function fits all three.
//
// Every learner is a [Method]: it finds functions of the kernel with some of
// the training rows (model.Head), and says how good they are.
//
//	learner := evaluate.Learner{Kernel: k, Method: evaluate.Ridge{Alpha: 1}}
//	fitted, err := evaluate.Fit(ctx, evaluate.Task{Gram: gram, Labels: labels, Test: test}, learner, nil)
//	if err != nil {
//		return err
//	}
//	metrics, err := fitted.Measure() // rmse and r2 of the held-out rows
package evaluate

// Package learner selects a job's learner, fits it on a linear Gram matrix, and measures it on
// held-out rows. The coordinator uses it on the Gram matrix of a protocol. The launching process,
// which owns the data, uses it on raw rows for the comparisons pooled (the cost of privacy) and
// alone (the gain of joining). One function fits the learner in all three cases.
//
// [Choose] converts a job file's kernel, grid and units to plain numbers. Every learner on a kernel
// is a [Solver]: it finds functions of the kernel over some of the training rows (model.Head) and
// measures their quality.
//
//	spec := learner.Spec{Kernel: k, Solver: learner.Ridge{Alpha: 1}}
//	fitted, err := learner.Fit(ctx, learner.Problem{Gram: gram, Labels: labels, Test: test}, spec, nil)
//	if err != nil {
//		return err
//	}
//	metrics, err := fitted.Measure() // rmse, mae and r2 of the held-out rows
//
// # A new learner
//
// A learner is a type in a file of its own and an entry of [Table]. The type defines its name in
// job files, its use of labels (job.Task), and its keys with their defaults and checks
// (section.Section); keys with List make grids. Its methods from [KernelLearner], [SumsLearner] and
// [LossLearner] declare the input that it learns from. If package model has no kind of its name,
// the task defines the shape of its models. No other code names it: job files, policies, plans,
// tables, pages, model files and predictions are driven by this entry.
package learner

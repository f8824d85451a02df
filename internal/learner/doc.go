// Package learner chooses and fits a job's learner on a linear Gram matrix and measures
// it on held-out rows. The coordinator uses it on the Gram matrix that a
// protocol produced; the launching process, which owns the data, uses it on
// raw rows for the comparisons: pooled (what privacy cost) and alone (what
// joining gained). One function fits all three.
//
// A job file's kernel, grid and units become plain numbers ([Choose]). Every learner on a
// kernel is a [Solver]: it finds functions of the kernel with
// some of the training rows (model.Head), and says how good they are.
//
//	spec := learner.Spec{Kernel: k, Solver: learner.Ridge{Alpha: 1}}
//	fitted, err := learner.Fit(ctx, learner.Problem{Gram: gram, Labels: labels, Test: test}, spec, nil)
//	if err != nil {
//		return err
//	}
//	metrics, err := fitted.Measure() // rmse and r2 of the held-out rows
//
// # A new learner
//
// A learner is a type in a file of its own and an entry of [Table]. The type has the name
// by which job files call it, the meaning of labels to it (job.Task), and its keys with
// their defaults and checks (section.Section); keys with List make grids. Its methods from
// [KernelLearner], [SumsLearner] and [LossLearner] declare the input that it learns
// from. If package model has no kind of its name, the task says the shape of its models. Nothing else names it: job files, policies, plans, tables, pages, model
// files and predictions take it from there.
package learner

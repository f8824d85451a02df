// Package fdsvrg lets workers who hold different columns of the same rows train a linear model
// by variance-reduced stochastic gradients (Zhang, Zhao, Gao, Li, "Feature-distributed SVRG
// for high-dimensional linear classification", 2018). It is a published
// rival, kept for comparisons: partial margins travel in the clear.
//
// Each worker has the weights of its own columns. A margin of a row is the sum over the
// workers of weights times columns. One worker, the leader, has the labels.
//
// An epoch begins with a full step over all training rows. Then come inner steps, each over a
// batch of rows, until every row has been in one. A last step takes the margins of all rows,
// held-out ones too. In each step:
//
//	1 Margins  child -> parent    sums of partial margins, up a binary tree to the leader
//	2 Slopes   leader -> workers  one number for each row, from which each moves its weights
//
// The package moves the vectors. What a margin is, and what follows from a slope, a [Worker]
// and a [Judge] say. Which rows are in a batch follows from the session's name, so that nobody
// has to ask for them.
//
//	params, err := fdsvrg.NewParams(fdsvrg.Spec{Rows: n, HeldOut: m, Outputs: 1, Batch: 32, Epochs: 20})
//	worker, err := fdsvrg.NewWorker(setup, w)
//	// elsewhere
//	leader, err := fdsvrg.NewLeader(setup, w, judge)
//	// run all to their end
//
// Partial margins are whole numbers, modulo 2^64, so that the sum does not depend on the tree.
//
// # Who learns what
//
//   - The leader learns every row's margin in every step. Its own slopes moved the weights, so
//     that margins are linear equations in the inner products of rows, over the other
//     workers' columns. A leader that chooses its slopes reads any such product.
//   - A worker with children learns their partial margins too, in the clear, and the slopes.
//   - Every worker learns the slopes. From those at zero weights the labels follow.
//
// # What is not promised
//
// That margins or slopes are right. That anything is hidden from a parent in the tree: the
// paper sums in the clear. Protocol fdskl masks its sums.
package fdsvrg

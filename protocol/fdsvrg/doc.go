// Package fdsvrg lets workers that hold different columns of the same rows train a linear model by
// variance-reduced stochastic gradients (Zhang, Zhao, Gao, Li, "Feature-distributed SVRG for
// high-dimensional linear classification", 2018). It is here for comparisons only: partial margins
// are sent in the clear.
//
// Each worker has the weights of its own columns. A margin of a row is the sum over the
// workers of weights times columns. One worker, the leader, has the labels.
//
// An epoch begins with a full step over all training rows. Inner steps follow, each over a batch of
// rows, until every training row has been in one batch. A last step computes the margins of all
// rows, including held-out ones. In each step:
//
//	1 Margins  child -> parent    sums of partial margins, up a binary tree to the leader
//	2 Slopes   leader -> workers  a number for each margin; workers update their weights by them (not in the last step)
//
// The package transports the vectors. A [Worker] and a [Judge] compute margins and slopes. The rows
// of a batch follow from the session's ID, so they are not requested.
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
//   - The leader learns every training row's margin twice in each epoch, and every row's margin at
//     the end. It sums up the branches of the tree, so it sees the margins of a branch of one worker
//     apart. Its own slopes moved the weights, so margins are linear equations in the inner products
//     of rows over the other workers' columns. A leader that chooses its slopes can read any such
//     product.
//   - A worker with children in the tree learns the sums of their branches' partial margins, in the
//     clear. If a branch is one worker with one column, its parent computes the column up to the sign.
//   - Every worker learns the slopes. From the slopes at zero weights the labels follow.
//
// # What is not promised
//
// That margins or slopes are right. That anything is hidden from a parent in the tree: the paper
// sums in the clear. Protocol fdskl masks its sums.
package fdsvrg

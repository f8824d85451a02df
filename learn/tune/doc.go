// Package tune searches grids of kernels and parameters by cross-validation.
//
// All kernels are functions of inner products, so that one linear Gram matrix serves the whole
// grid. Each kernel's matrix is computed from the Gram matrix once, in memory that the next kernel
// reuses. Every fold and pair of classes reads the kernel's matrix through indices. A learner gets all
// of its settings for one fold in one call, so that it can start each setting from the solution of the
// previous one.
//
//	folds := []tune.Fold{{Train: train0, Test: test0}, {Train: train1, Test: test1}}
//	search := tune.Search{
//		Kernels: kernels, // RBF with three gammas, say
//		Folds:   folds,
//		Learner: tune.SVC{Codes: codes, Classes: classes, Params: params}, // params: one for each C
//	}
//	result, err := search.Run(kernel.LinearGram(x))
//	if err != nil {
//		return err
//	}
//	best := result.Cells[result.Best]
//	fmt.Println(kernels[best.Kernel], params[best.Setting].C, best.Mean)
//
// A cell is one kernel with one setting. As in scikit-learn's GridSearchCV, the cell with the highest
// mean of its folds' scores is the best, and the first of several best cells is chosen. The folds run
// on all cores; the result depends on the arguments only.
package tune

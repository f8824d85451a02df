// Package tune searches grids of kernels and parameters by cross-validation.
//
// All kernels are functions of inner products, so that one linear Gram matrix serves the whole
// grid. Each kernel's matrix is computed from it once, in memory that the next kernel reuses, and
// every fold and pair of classes reads it through indices. A learner gets all of its settings for
// one fold in one call, so that it can start each setting from the solution of the previous one.
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
// As in scikit-learn's GridSearchCV a cell's figure is the mean of its folds' scores, higher is
// better, and the first of several best cells is chosen. The folds run on all cores; the result
// depends on the arguments only.
package tune

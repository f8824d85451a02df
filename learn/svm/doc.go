// Package svm trains support vector machines on a kernel.Source by sequential minimal optimisation.
// It trains C-SVC and nu-SVC, with one machine for every pair of classes, epsilon-SVR, nu-SVR and
// one-class SVM. Rows can have weights (M.-W. Chang, H.-T. Lin, M.-H. Tsai, C.-H. Ho, H.-F. Yu,
// Weights for data instances, an extension of LIBSVM), with the meaning that scikit-learn gives them.
//
// It follows LIBSVM, whose names it uses: the dual problem, the stopping rule
// tol, rho, the order of pairs and the tie rule of the vote (C.-C. Chang,
// C.-J. Lin, LIBSVM: a library for support vector machines, ACM TIST 2(3),
// 2011), shrinking included. The working set is chosen with second-order information (R.-E. Fan,
// P.-H. Chen, C.-J. Lin, Working set selection using second order information
// for training support vector machines, JMLR 6, 2005, WSS 2). All arithmetic
// is double precision, so that tolerances like 1e-8 can be reached. Values of a
// kernel.Panels source, such as kernel.Lazy, are rounded to float32 first, as in
// LIBSVM; use a Gram matrix where that is too coarse.
//
// A training reads kernel rows when it needs them and keeps as many as Params.CacheBytes allows:
// 8 bytes per value, 4 from a kernel.Panels source. In addition it takes up to 150 bytes per row.
//
// # Signs
//
// The machine of classes i < j decides
//
//	f(x) = sum_s coef_s K(x, s) - rho,   coef_s = alpha_s for rows of class i, -alpha_s for rows of class j
//
// and a positive f(x) is a vote for class i, the first of the pair, as in LIBSVM. For two classes
// scikit-learn has the opposite sign: its decision_function is -f(x) (positive for classes_[1])
// and its intercept_ is +rho. For more classes its intercept_ is -rho and its one-vs-one
// decisions have our sign.
//
// # Example
//
//	gram := kernel.Of(kernel.LinearGram(x), k)        // x: training rows
//	codes := []int{0, 1, 1, 0}                       // codes[r] is the class of row r
//	p := svm.DefaultParams()
//	p.C = 10
//	c, err := svm.TrainSVC(gram, codes, []string{"benign", "malignant"}, p, nil)
//	if err != nil {
//		return err
//	}
//	sv := c.Support()                                // training rows; their kernel with new rows is all c needs
//	d := c.Decisions(cross)                          // cross: new rows x len(sv)
//	for _, class := range c.Predict(d) {
//		fmt.Println(c.Classes[class])
//	}
//
// # Probabilities
//
// [Calibrate] fits a sigmoid to the decisions of each pair of classes, on rows left out of
// training, and [Calibration.Probabilities] couples the pairs. LIBSVM draws other folds and stops the
// coupling earlier, so that its probabilities differ from these.
package svm

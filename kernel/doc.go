// Package kernel provides kernels on inner products, kernel matrices, and the interface through
// which learners read kernel matrices.
//
// Every kernel here is an elementwise function of x.z, x.x and z.z, because these are what
// protocols compute: from the linear Gram matrix one can compute every one of these kernels, with
// any parameters, without any row of data. With D = max(0, x.x + z.z - 2 x.z), the squared
// Euclidean distance:
//
//	linear              x.z
//	rbf                 amplitude exp(-gamma D)
//	polynomial          (gamma x.z + coef0)^degree
//	rational-quadratic  amplitude (1 + D / (2 alpha length_scale^2))^-alpha
//	laplacian           exp(-gamma sqrt(D))
//	matern              nu 0.5, 1.5, 2.5 (Rasmussen and Williams 2006, equations 4.14, 4.17)
//	cosine              x.z / sqrt(x.x z.z)
//	tanimoto            x.z / (x.x + z.z - x.z)
//	dot-product         the sum of coefficients[d] (x.z)^d
//
// The kernels that LIBSVM or scikit-learn has bear their names and parameters, with two exceptions.
// scikit-learn's DotProduct is sigma_0^2 + x.z. Its laplacian kernel uses the L1 distance, which cannot
// be computed from encodings that preserve only inner products. The same is true of chi-squared and
// intersection kernels.
//
// From rows to a kernel matrix for a learner:
//
//	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
//	if err != nil {
//		return err
//	}
//	gram := kernel.Of(kernel.LinearGram(x), k)
//	classifier, err := svm.TrainSVC(gram, codes, classes, svm.DefaultParams(), nil)
//
// the same without a matrix in memory, for many rows:
//
//	classifier, err := svm.TrainSVC(kernel.NewLazy(x, k), codes, classes, svm.DefaultParams(), nil)
//
// and to the kernel values of new rows z with the old rows:
//
//	cross := kernel.CrossGram(z, x)
//	kernel.Cross(k, cross, kernel.SquaredNorms(z), kernel.SquaredNorms(x))
package kernel

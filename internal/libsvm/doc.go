// Package libsvm trains and predicts with the options, the files and the printed lines of LIBSVM's
// programs svm-train and svm-predict (C.-C. Chang, C.-J. Lin, LIBSVM: a library for support vector
// machines, ACM TIST 2(3), 2011). Package svm does the mathematics.
//
// Classes are ordered as LIBSVM orders them: by their first row, except that +1 comes before -1 if
// these are the only classes. The order matters where classes get equally many votes: the first one
// wins. Folds are drawn by the generator of the C library on Debian, from its default seed, so that
// cross-validation and probabilities use the same folds as LIBSVM's programs there.
//
// These things differ from LIBSVM. Shrinking is always on. Values of 0 in a text are not stored, so
// that a model file lacks them. A value with more than eight digits keeps its digits in a model file.
// The tolerance of a one-class machine is multiplied by nu times the number of rows if that is below 1, and
// such a machine has no probabilities, which newer versions of LIBSVM have.
package libsvm

package learner

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
)

// Need counts the operations and the memory that a stage of learning takes.
type Need struct {
	Products float64 // multiply-adds of products of dense matrices
	Values   float64 // values of a kernel, or of another elementary function
	Moved    float64 // bytes of large arrays that are read or written
	Memory   int64   // bytes besides the Gram matrix
	// Assumed states which assumption about the data the counts rest on; "" if on none.
	Assumed string
}

// assumedSteps is the number of steps for each training row of a problem of two classes that a
// forecast assumes of the solver of package svm.
const assumedSteps = 2

// assumedPasses is the number of products of the whole kernel matrix with a vector that a forecast
// assumes of eigenvectors and of clusters.
const assumedPasses = 60

// kernelCacheBytes is the memory for kernel rows of a learner that sets none.
const kernelCacheBytes = 200 << 20

// NeedOf returns the need of stage tune or learn of [Work.Do], on a Gram matrix in memory; other stages have
// none. classes is the number of classes, if the labels are classes. The steps of a solver depend on the data,
// so their number is assumed.
func NeedOf(j *job.Job, stage string, training, heldOut, classes int) Need {
	switch stage {
	case "tune":
		return tuningNeed(j, training, classes)
	case "learn":
		n := fittingNeed(j, training, classes)
		n.Assumed = assumed(j)
		n.Values += float64(training) * float64(heldOut) // the decisions on held-out rows
		return n
	}
	return Need{}
}

// assumed says which number of steps a forecast of a fit assumes.
func assumed(j *job.Job) string {
	switch {
	case On[Rowwise](j):
		return fmt.Sprintf("the solver of %s takes %d steps for each training row of a problem; hard problems take more", j.Learner.Name(), assumedSteps)
	case !j.Task().Numbers:
		return fmt.Sprintf("learner %s multiplies the kernel matrix %d times with a vector", j.Learner.Name(), assumedPasses)
	}
	return ""
}

// tuningNeed counts a cross-validation: each kernel's matrix once, and a fit for each cell and fold.
func tuningNeed(j *job.Job, training, classes int) Need {
	square := float64(training) * float64(training)
	n := Need{Values: square * float64(len(j.Kernels())), Memory: int64(8 * square)}
	folds := j.Data.Folds
	if j.Data.LeavesOneOut() {
		folds = training
	}
	fit := fittingNeed(j, training-training/max(1, folds), classes)
	fits := float64(j.Cells() * folds)
	n.Products += fits * fit.Products
	n.Moved += fits * fit.Moved
	return n
}

// fittingNeed counts one fit. A learner that reads rows of the kernel matrix solves a problem for each
// pair of classes, or one problem without classes, and reads each row of a problem once. Other learners need the
// whole matrix.
func fittingNeed(j *job.Job, training, classes int) Need {
	rows := float64(training)
	if On[Rowwise](j) {
		pairs := 1.0
		if j.Task().Classes {
			pairs = float64(classes*(classes-1)) / 2
			rows = 2 * rows / float64(classes)
		}
		return Need{
			Values: pairs * rows * rows, Moved: pairs * assumedSteps * rows * rows * 3 * 8,
			Memory: min(kernelCacheBytes, int64(8*rows*rows)),
		}
	}
	n := Need{Values: rows * rows / 2, Memory: int64(8 * rows * rows)}
	if j.Task().Numbers {
		n.Products = rows * rows * rows / 6
	} else {
		n.Moved = assumedPasses * 8 * rows * rows
	}
	return n
}

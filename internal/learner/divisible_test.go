package learner

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
)

// Other processes get no job that their inputs cannot describe: weights of rows, and leave-one-out.
func TestWeightsAndLeaveOneOutStayInThisProcess(t *testing.T) {
	folds := &job.Job{}
	folds.Data.Folds = 5
	each := &job.Job{}
	each.Data.Folds = job.EachRow
	if !(Problem{}).divisible(folds) || (Problem{}).divisible(each) || (Problem{Weights: []float64{1}}).divisible(folds) {
		t.Error("a job with weights or with leave-one-out is given to other processes, or one with folds is not")
	}
}

package learner

import (
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Rowless returns the fitted model without its rows. The returned model decides from the products
// of its training rows with new rows.
func (w *Work) Rowless() (*model.Rowless, error) {
	dot, support := w.Problem.Gram, w.Fitted.Support
	spec := model.RowlessSpec{Kernel: w.Choice.Job.Kernel.Spec(), Head: w.Fitted.Head}
	for _, i := range support {
		spec.Squares = append(spec.Squares, dot.Row(i)[i])
	}
	if spec.Head.Kind.OutputShape() == model.Deviation {
		spec.Dot = linalg.New[float64](len(support), len(support))
		for a, i := range support {
			for b, k := range support {
				spec.Dot.Row(a)[b] = dot.Row(i)[k]
			}
		}
	}
	return model.NewRowless(spec)
}

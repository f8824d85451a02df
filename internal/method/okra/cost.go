package okra

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// foresee returns the function that expects the public values of a job. It is nil for a variant that
// does not send labels with its rows, because the formulas count them.
func (v Variant) foresee() func(method.Instance, method.Sizes) (rows.Total, error) {
	if !v.Labels {
		return nil
	}
	return func(c method.Instance, s method.Sizes) (rows.Total, error) {
		if learner.UsesViews(c.Job) {
			return 0, fault.BadInputf("learner %s learns from two views of each row, whose sizes have no formula, so mercer plan cannot plan this job", c.Job.Learner.Name())
		}
		return rows.Total(s.All(func(t method.TableSize) int { return t.Rows })), nil
	}
}

// uploadCost returns the formula of the step in which all parties send their rows.
func uploadCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		return okra.Cost(s, func(party string) okra.Shape {
			t := sizes.Tables[party]
			shape := okra.Shape{Rows: t.Rows, Features: t.Columns}
			if j.Data.Label != job.NoLabel {
				shape.LabelBytes = t.LabelBytes
			}
			return shape
		})
	}
}

// learningCost returns the formula of a stage in which the coordinator learns.
func learningCost(c method.Instance, stage string) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(s method.Sizes, _ *protocol.Session) (protocol.Cost, error) {
		return c.LearningCost(stage, s.All(method.TableSize.Training), s.All(func(t method.TableSize) int { return t.HeldOut }), s.Classes()), nil
	}
}

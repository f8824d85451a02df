package rows

import (
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/columnorder"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// columnOrderCost returns the formula of the step that orders columns.
func columnOrderCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		return columnorder.Cost(s, func(member string) columnorder.Table {
			t := sizes.Tables[member]
			out := columnorder.Table{Width: t.Columns}
			if t.Named {
				out.Columns = make([]string, t.Columns)
			}
			if agreesOnClasses(j) {
				out.Classes = t.Classes
			}
			return out
		}), nil
	}
}

// scaleCost is the formula of the step that fits a scaling. Each party reads its training rows once.
func scaleCost(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
	c := scale.Cost(s, sizes.Most(func(t method.TableSize) int { return t.Columns }))
	for party, t := range sizes.Tables {
		c.Load(party, protocol.Load{Effort: protocol.Effort{Moved: 16 * float64(t.Training()) * float64(t.Columns)}})
	}
	return c, nil
}

// SizeOf counts a party's table. It refuses a job whose preparation the parties fit: then the number
// of columns depends on the rows of all of them.
func SizeOf(j *job.Job, party string, t method.Table) (method.TableSize, error) {
	s, err := Split(j, party, t)
	if err != nil {
		return method.TableSize{}, err
	}
	size := method.SizeOf(s.Set)
	size.HeldOut = len(s.Rows(true))
	if s.Frame == nil {
		return size, nil
	}
	if j.Data.FitsSchema() {
		return method.TableSize{}, fault.BadInputf("the parties fit the preparation of the job's schema on their rows, and these steps have no formula for their costs, so mercer plan cannot plan this job; measure a run instead: mercer simulate")
	}
	plan, err := prepare.NewPlan(j.Data.Schema, j.Data.Fitted())
	if err != nil {
		return method.TableSize{}, err
	}
	made, err := plan.Fit(nil)
	if err != nil {
		return method.TableSize{}, err
	}
	size.Columns = made.Width()
	return size, nil
}

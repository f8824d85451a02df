package fdskl

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// foresee returns the declarations of a job. It refuses trainings whose requests depend on drawn rows.
func foresee(c method.Instance, s method.Sizes) (columns.Declared, error) {
	if t := keysOf(c.Job).Training; t != Cached {
		return columns.Declared{}, fault.BadInputf(`protocol fdskl has no formula for training %s, whose requests depend on the rows that it draws, so mercer plan cannot plan this job; it can with "training: cached"`, t)
	}
	d, err := columns.Foresee(c, s)
	for i := range d.List {
		d.List[i].Labels = 0 // the labels stay with their holder
	}
	return d, err
}

// phasesCost returns the formula of the session that adds up phases. It takes the requests of training
// cached from a book (fdskl.Book) that gets no answers. The label holder keeps the phases.
func phasesCost(j *job.Job) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		k := keysOf(j)
		book := fdskl.NewBook(sizes.Common, k.Bits)
		book.Want(linalg.Range(0, sizes.Common), k.Directions)
		var requests []fdskl.Request
		for q, more := book.Next(); more; q, more = book.Next() {
			requests = append(requests, q)
		}
		c, err := fdskl.Cost(s, requests, func(worker string) int { return sizes.Tables[worker].Columns })
		for _, active := range s.With(protocol.RoleLeader) {
			c.Load(active, protocol.Load{Kept: int64(sizes.Common) * int64(k.Directions) * int64(k.Bits) / 8})
		}
		return c, err
	}
}

// assumedPasses is the number of passes over the training rows that a forecast assumes. How many the
// learner needs depends on the data.
const assumedPasses = 20

// reportCost returns the formula of the step in which the label holder learns and reports. A pass
// multiplies the features of all training rows, two for each direction, with the coefficients and
// with the gradient.
func reportCost(c method.Instance, report func(method.Sizes, *protocol.Session) (protocol.Cost, error)) func(method.Sizes, *protocol.Session) (protocol.Cost, error) {
	return func(sizes method.Sizes, s *protocol.Session) (protocol.Cost, error) {
		cost, err := report(sizes, s)
		if err != nil {
			return protocol.Cost{}, err
		}
		train, test, err := columns.Sizes(c.Job, sizes.Common)
		features, outputs := 2*float64(keysOf(c.Job).Directions), 1.0
		if classes := sizes.Classes(); c.Job.Task().Classes && classes > 2 {
			outputs = float64(classes)
		}
		cost.Assumed = fmt.Sprintf("the label holder's learner passes over the training rows %d times", assumedPasses)
		values := (assumedPasses*float64(train) + float64(test)) * features
		cost.Load(c.Parties[0], protocol.Load{Effort: protocol.Effort{Products: 2 * values * outputs, Moved: 4 * values}})
		return cost, err
	}
}

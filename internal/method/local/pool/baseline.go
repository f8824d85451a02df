// Package pool is the common part of comparisons with learning on pooled rows. It prepares the rows
// of all parties as the protocol would, and fits learners to them.
package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Fit trains a learner on pooled training rows and predicts pooled held-out rows. Argument train
// holds the splits of the parties that contribute training rows, and test the splits of the parties
// that contribute held-out rows. The job has no folds.
func Fit(ctx context.Context, j *job.Job, train, test []method.Split) (*learner.Fitted, error) {
	p, err := Prepare(j, train, test)
	if err != nil {
		return nil, err
	}
	var w learner.Work
	if w.Problem, err = p.Input(j); err != nil {
		return nil, err
	}
	err = w.Do(ctx, j, "learn", method.Reporter(nil).Counts)
	return w.Fitted, err
}

// Rows is a learning problem on pooled rows. It refers to the parties' rows without a copy if all of them are in
// dense tables of one precision.
type Rows struct {
	X       linalg.Rows // training rows, followed by held-out rows; scaled if Scaling is not empty
	Labels  []string
	Test    []bool
	Scaling scale.Scaling // empty if rows are not scaled
	Columns []string      // names of the columns, or nil
	Groups  []string      // group of each row, or nil
	Weights []float64     // weight of each row, or nil
	// Prepared is the preparation of the rows. It is nil if the tables have no schema.
	Prepared *prepare.Preparation

	raw linalg.Rows // the rows before scaling
}

// Prepare collects the rows and scales them by the scaling that the training parties would agree
// on.
func Prepare(j *job.Job, train, test []method.Split) (*Rows, error) {
	s, err := rows.Together(j, train)
	if err != nil {
		return nil, err
	}
	return collect(j, train, test, s)
}

// PrepareExactly collects the rows and scales them as the owner of all rows would.
func PrepareExactly(j *job.Job, train, test []method.Split) (*Rows, error) {
	s, err := rows.PooledScaling(j, train)
	if err != nil {
		return nil, err
	}
	return collect(j, train, test, s)
}

// Same reports whether two problems on the same rows have the same preparation and scaling.
func (p *Rows) Same(o *Rows) bool {
	switch {
	case (p.Prepared == nil) != (o.Prepared == nil):
		return false
	case p.Prepared != nil && p.Prepared.Hash() != o.Prepared.Hash():
		return false
	}
	return slices.Equal(p.Scaling.Offset, o.Scaling.Offset) && slices.Equal(p.Scaling.Factor, o.Scaling.Factor)
}

// collect collects the rows and applies the scaling.
func collect(j *job.Job, train, test []method.Split, by scale.Scaling) (*Rows, error) {
	n := Count(train, false)
	x, err := dataset.Append(append(Tables(train, false), Tables(test, true)...)...)
	if err != nil {
		return nil, err
	}
	p := &Rows{X: dataset.RowsOf(x.X), raw: dataset.RowsOf(x.X), Labels: slices.Concat(Labels(train, false), Labels(test, true))}
	if g := Groups(j, train, false); g != nil {
		p.Groups = append(g, Groups(j, test, true)...)
	}
	p.Weights = slices.Concat(weights(train, false), weights(test, true))
	p.Prepared = train[0].Prepared
	if p.Columns = train[0].Set.Columns; len(p.Columns) != x.X.Cols() {
		p.Columns = nil
	}
	p.Test = make([]bool, n+Count(test, true))
	for i := n; i < len(p.Test); i++ {
		p.Test[i] = true
	}
	p.Scaling = by
	if p.Scaling.Offset != nil {
		p.X = p.Scaling.Rows(p.X)
	}
	p.X, p.Test, err = learner.InViews(j.Learner, p.X, p.Columns, p.Test)
	return p, err
}

// Problem returns a learning problem on the Gram matrix of the rows.
func (p *Rows) Problem() learner.Problem { return p.ProblemOf(p.X) }

// ProblemOf is like Problem, with features of the rows in their place.
func (p *Rows) ProblemOf(features linalg.Rows) learner.Problem {
	return learner.Problem{Gram: kernel.LinearGram(features), Labels: p.Labels, Test: p.Test, Groups: p.Groups, Weights: p.Weights}
}

// Tables returns the held-out rows of several parties if heldOut is true, and their training rows
// otherwise. The tables have no labels, ids or groups.
func Tables(splits []method.Split, heldOut bool) []*dataset.Set {
	sets := make([]*dataset.Set, len(splits))
	for k, s := range splits {
		sets[k] = &dataset.Set{Name: s.Set.Name, X: s.Set.X.Subset(s.Rows(heldOut))}
	}
	return sets
}

// Labels returns the labels of the rows that Tables returns, or nil if the rows have none.
func Labels(splits []method.Split, held bool) []string {
	var labels []string
	for _, s := range splits {
		for i, label := range s.Set.Labels {
			if s.Test[i] == held {
				labels = append(labels, label)
			}
		}
	}
	return labels
}

// weights returns the weights of the rows that Tables returns, or nil if the rows have none.
func weights(splits []method.Split, held bool) []float64 {
	var list []float64
	for _, s := range splits {
		for i, w := range s.Set.Weights {
			if s.Test[i] == held {
				list = append(list, w)
			}
		}
	}
	return list
}

// Groups returns the groups of the rows that Tables returns, or nil if the rows have none. A group
// belongs to one party, because no member detects that two parties have rows of the same patient.
// If the parties assign their groups to the job's folds, Groups returns the names of the rows'
// folds instead.
func Groups(j *job.Job, splits []method.Split, held bool) []string {
	dealt := rows.GroupsFolds(j) && !j.Unshared()
	var groups []string
	for k, s := range splits {
		var names []string
		if dealt {
			names = rows.FoldNames(rows.DealGroups(j, k, s))
		} else {
			for _, group := range s.Set.Groups {
				names = append(names, fmt.Sprintf("%d/%s", k, group))
			}
		}
		for i, name := range names {
			if s.Test[i] == held {
				groups = append(groups, name)
			}
		}
	}
	return groups
}

// Count counts the rows that Tables returns.
func Count(splits []method.Split, held bool) int {
	n := 0
	for _, s := range splits {
		n += len(s.Rows(held))
	}
	return n
}

// Beside joins the columns of all parties into one table.
func Beside(splits []method.Split) (method.Split, error) {
	sets := make([]*dataset.Set, len(splits))
	for i, s := range splits {
		sets[i] = s.Set
	}
	set, err := dataset.Beside(sets...)
	return method.Split{Set: set, Test: splits[0].Test, Prepared: joinPreparations(splits)}, err
}

// joinPreparations joins the parties' preparations. It returns nil if some party has none.
func joinPreparations(splits []method.Split) *prepare.Preparation {
	var all []*prepare.Preparation
	for _, s := range splits {
		if s.Prepared == nil {
			return nil
		}
		all = append(all, s.Prepared)
	}
	return prepare.Beside(all)
}

// ErrNoLabels is the reason why a party without labels cannot learn alone.
var ErrNoLabels = fault.BadInput(errors.New("it has no labels to learn from"))

const (
	// smallRows is the greatest number of rows for which every learner gets a Gram matrix. Such a
	// matrix, of 8 bytes for each entry, takes at most 128 MiB.
	smallRows = 1 << 12
	// filledNumbers is the largest number of entries of a dense matrix that scaling makes from sparse
	// rows. These entries, of 8 bytes each, take 2 GiB.
	filledNumbers = 1 << 28
)

// Input returns the input of a job's learner. For a job among parties, and for few rows, the input
// is the Gram matrix. Otherwise a learner that reads single rows of this matrix gets rows that are
// computed on demand. A learner that needs the whole matrix gets a matrix of limited size, or an
// error.
func (p *Rows) Input(j *job.Job) (learner.Problem, error) {
	n, _ := p.X.Shape()
	_, rowwise := j.Learner.Values.(learner.Rowwise)
	switch {
	case !j.Unshared() || n <= smallRows:
	case rowwise:
		x, err := p.fastRows()
		return learner.Problem{X: x, Labels: p.Labels, Test: p.Test, Groups: p.Groups, Weights: p.Weights}, err
	case n > learner.MaxRows:
		return learner.Problem{}, fault.BadInputf("the table has %d rows; learner %s needs the whole Gram matrix, which can have at most %d rows (2 GiB); bring fewer rows, or use %s",
			n, j.Learner.Name(), learner.MaxRows, learner.Able(" or ", learner.On[learner.Rowwise]))
	}
	return p.Problem(), nil
}

// fastRows returns the scaled rows in a form that is fast to read. Sparse rows stay sparse if the
// scaling keeps zeros; all others become a float64 matrix.
func (p *Rows) fastRows() (linalg.Rows, error) {
	n, f := p.X.Shape()
	sparse, is := p.raw.(linalg.SparseRows)
	if is && len(p.Scaling.Offset) == 0 {
		return p.raw, nil
	}
	if is {
		if scaled, stays := p.Scaling.Sparse(sparse); stays {
			return scaled, nil
		}
		if n > filledNumbers/max(1, f) {
			return nil, fault.BadInputf(`the scaling turns zeros into other numbers, and %d rows of %d columns without zeros take more than 2 GiB; use "scale: none"`, n, f)
		}
	}
	x := linalg.New[float64](n, f)
	linalg.Gather(x, p.X, 0)
	return x, nil
}

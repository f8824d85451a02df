package columns

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/psi"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// tableOf checks a party's table and returns the columns and labels that the job uses.
func tableOf(j *job.Job, self string, set *dataset.Set) (*dataset.Set, error) {
	set, err := Chosen(j, self, set)
	if err == nil {
		set, err = checkIDsAndLabels(j, self, set)
	}
	if err == nil {
		err = set.Validate()
	}
	if err == nil {
		err = method.CheckNames(set)
	}
	return set, err
}

// Chosen returns a party's table with only the columns that the job names for the party.
func Chosen(j *job.Job, party string, set *dataset.Set) (*dataset.Set, error) {
	names := j.Columns(party)
	if names == nil {
		return set, nil
	}
	if set.Columns == nil {
		return nil, fmt.Errorf(`%s has no column names, but the job names the columns that %s uses; give the file a header, or leave %s out of "columns" in the partition`, set.Name, party, party)
	}
	var chosen []int
	for _, name := range names {
		at := slices.Index(set.Columns, name)
		if at < 0 {
			hint := "see mercer data info"
			if near, ok := fuzzymatch.Nearest(name, set.Columns...); ok {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, dataset.NoColumn(name, "%s has no column %q, which the job names for party %s in its partition; %s", set.Name, name, party, hint)
		}
		chosen = append(chosen, at)
	}
	return set.SelectColumns(chosen), nil
}

// checkIDsAndLabels checks the ids and labels of a party's table. It removes the labels if the job
// does not learn from this party's labels.
func checkIDsAndLabels(j *job.Job, self string, set *dataset.Set) (*dataset.Set, error) {
	if set.IDs == nil {
		return nil, fmt.Errorf(`%s has no ids, which the parties need to match their rows; add "id" with the name of the id column`, set.Name)
	}
	if n := len(set.IDs); n > psi.MaxIDs {
		return nil, fmt.Errorf("%s has %d rows; at most %d can be aligned", set.Name, n, psi.MaxIDs)
	}
	if !j.Labels(self) {
		return unlabelled(set), nil
	}
	for i, label := range set.Labels {
		if len(label) > method.MaxLabelBytes {
			return nil, fmt.Errorf("%s the label has %d bytes; at most %d are allowed; shorten it", set.Place(i), len(label), method.MaxLabelBytes)
		}
	}
	set, err := method.TakeLabels(j, set)
	if err != nil || set.Labels == nil {
		return set, err
	}
	if !j.Data.Spread {
		return set, method.CheckLabels(j, set)
	}
	labelled := &dataset.Set{Name: set.Name, Labels: linalg.At(set.Labels, set.Labelled()), Lines: linalg.At(set.Lines, set.Labelled())}
	if len(labelled.Labels) == 0 {
		return nil, fmt.Errorf("%s has no label in any row, but in this job %s learns from its own labels; add labels, or make fewer parties active", set.Name, self)
	}
	return set, method.CheckLabels(j, labelled)
}

// unlabelled returns a table with only the name, columns and ids of the set.
func unlabelled(set *dataset.Set) *dataset.Set {
	return &dataset.Set{Name: set.Name, X: set.X, IDs: set.IDs, Columns: set.Columns}
}

// prepare fits the preparation and the scaling of the party's columns on the training rows. Each
// column belongs to one party, so the fit needs no message.
func (p *Party) prepare() error {
	split := method.Split{Set: p.Set, Test: HeldOutLast(p.train, p.Set.X.Rows()-p.train)}
	split, scaling, err := PrepareAlone(p.Job, split)
	if err != nil {
		return err
	}
	p.Set, p.Prepared, p.Scaling = split.Set, split.Prepared, scaling
	if p.Rows = dataset.RowsOf(p.Set.X); scaling.Offset != nil {
		p.Rows = scaling.Rows(p.Rows)
	}
	return nil
}

// Preparation returns the fitted preparation, or nil for a table without a schema.
func (p *Party) Preparation() *prepare.Preparation { return p.Prepared }

// PrepareAlone prepares the table of a party with columns, and returns the scaling of these columns. The
// scaling is empty if the job scales no column of the party.
func PrepareAlone(j *job.Job, s method.Split) (method.Split, scale.Scaling, error) {
	x, places := s.Set.X, dataset.Complement(s.Set.X.Cols(), nil)
	if f, typed := s.Set.X.(*prepare.Frame); typed {
		made, err := prepare.FitAlone(f, s.Rows(false), j.Data.Fitted())
		if err != nil {
			return s, scale.Scaling{}, fmt.Errorf("%s: %w", s.Set.Name, err)
		}
		if s.Set, err = made.Prepare(s.Set, f); err != nil {
			return s, scale.Scaling{}, err
		}
		s.Prepared, places = made, made.Numbers()
		x = s.Set.X.Columns(places)
		if made.Offset != nil {
			return s, scale.Scaling{Offset: made.Offset, Factor: made.Factor}, nil
		}
	}
	if j.Data.Scale == job.None || len(places) == 0 {
		return s, scale.Scaling{}, nil
	}
	found, err := scale.Pooled(linalg.Pick(dataset.RowsOf(x), s.Rows(false)), scale.Method(j.Data.Scale))
	if err != nil {
		return s, scale.Scaling{}, err
	}
	return s, found.Spread(places, s.Set.X.Cols()), nil
}

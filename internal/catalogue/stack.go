package catalogue

import (
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// stacked stands between the names of sources whose rows are read as one table.
const stacked = " + "

// loadStack reads several sources, one below the other. Sparse text names no column beyond
// the last that it needs: every source gets the number of columns of the widest.
func (l Library) loadStack(refs []string, c Columns) (*dataset.Set, error) {
	sets, width := make([]*dataset.Set, len(refs)), 0
	for i, ref := range refs {
		var err error
		if sets[i], err = l.Load(ref, c); err != nil {
			return nil, err
		}
		width = max(width, sets[i].X.Cols())
	}
	for _, s := range sets {
		if sparse, ok := s.X.(*dataset.CSR); ok && sparse.Cols() < width {
			s.X = sparse.Widened(width)
		}
	}
	var set *dataset.Set
	err := arrange(sets)
	if err == nil {
		set, err = dataset.Append(sets...)
	}
	if err == nil {
		err = set.Validate() // an id may be in two of them
	}
	if err != nil {
		return nil, &Error{strings.Join(refs, stacked), "cannot be used: " + strings.TrimPrefix(err.Error(), "dataset: "), err}
	}
	return set, nil
}

// arrange puts the columns of all sets into the order of the first.
func arrange(sets []*dataset.Set) error {
	for i, s := range sets[1:] {
		var err error
		if sets[i+1], err = s.Arrange(sets[0].Name, sets[0].X.Cols(), sets[0].Columns); err != nil {
			return err
		}
	}
	return nil
}

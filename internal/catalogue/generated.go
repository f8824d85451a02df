package catalogue

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
)

// loadGenerated makes a table of two classes whose size is ROWSxCOLUMNS.
func loadGenerated(size string, c Columns) (*dataset.Set, error) {
	ref := Generated + size
	left, right, _ := strings.Cut(size, "x")
	rows, badRows := strconv.Atoi(left)
	columns, badColumns := strconv.Atoi(right)
	if err := errors.Join(badRows, badColumns); err != nil {
		return nil, &Error{ref, "has no size; write " + Generated + "ROWSxCOLUMNS, such as " + Generated + "1000x10", err}
	}
	if err := unnamed(ref, c); err != nil {
		return nil, err
	}
	set, err := generated.Clouds(rows, columns)
	if err != nil {
		return nil, &Error{ref, "cannot be generated: " + strings.TrimPrefix(err.Error(), "dataset/generated: "), err}
	}
	if set.Name = ref; c.Label == noColumn {
		set.Labels = nil
	}
	return set, nil
}

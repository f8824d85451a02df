package prepare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// feature finds a column of the schema. It marks errors about a column that a job's schema names.
func (r *reader) feature(columns, names []string, c Column) (field, error) {
	f, err := r.find(columns, names, c.Name, "")
	if err != nil && r.Absent && c.filled() {
		r.absent = append(r.absent, c.Name)
		return field{at: -1, own: c.Name}, nil
	}
	if err == nil {
		err = f.theirs.fits(c, f.own)
	}
	if err != nil && !r.plain {
		err = &UnlikeError{c.Name, err}
	}
	return f, err
}

// find returns a column by the federation's name.
func (t Table) find(columns, names []string, name, what string) (field, error) {
	at := slices.Index(names, name)
	if at < 0 {
		return field{}, dataset.NoColumn(name, "there is no column %s%s; %s", dataset.Quote(name), what, near(name, columns, names))
	}
	return field{at, columns[at], t.Mapping.Columns[columns[at]]}, nil
}

// UnlikeError refuses a table without a column that the schema describes, or with the column in
// another unit. Its text names what the file calls its columns, and is for the table's owner.
type UnlikeError struct {
	Column string // by the schema
	Err    error
}

func (e *UnlikeError) Error() string { return e.Err.Error() }

func (e *UnlikeError) Unwrap() error { return e.Err }

// Missing reports whether the table lacks the column.
func (e *UnlikeError) Missing() bool {
	var missing *dataset.ColumnError
	return errors.As(e.Err, &missing)
}

// Public returns the text that peers may be told, who know the schema.
func (e *UnlikeError) Public() string {
	if e.Missing() {
		return fmt.Sprintf("its table has no column %s, which the job's schema describes; its own log says more", dataset.Quote(e.Column))
	}
	return fmt.Sprintf("its catalogue gives column %s a unit or a factor that does not go with the job's schema; its own log says more", dataset.Quote(e.Column))
}

// near advises about a column that is not there.
func near(name string, columns, names []string) string {
	for i, n := range names {
		if strings.EqualFold(strings.TrimSpace(n), strings.TrimSpace(name)) {
			return fmt.Sprintf("the table has %s: rename it in the catalogue by columns: {%s: {as: %s}}", dataset.Quote(columns[i]), columns[i], name)
		}
	}
	return "correct the job, or rename the table's column in the catalogue"
}

// fits refuses a column whose unit is another one and not converted.
func (t Theirs) fits(c Column, own string) error {
	switch {
	case t.Unit != "" && c.Unit != "" && t.Unit != c.Unit && t.Times == 0:
		return fmt.Errorf("column %s is in %s and the schema has %s; write the factor as times: in the catalogue", dataset.Quote(own), t.Unit, c.Unit)
	case t.Times != 0 && c.Type != Number:
		return fmt.Errorf("column %s is a %s and is multiplied by %g in the catalogue; remove times", dataset.Quote(own), c.Type, t.Times)
	case t.Unit != "" && c.Unit == "":
		return fmt.Errorf("column %s is in %s by the catalogue, and the schema names no unit; name it there, or remove unit", dataset.Quote(own), t.Unit)
	}
	return nil
}

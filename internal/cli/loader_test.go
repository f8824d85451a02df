package cli

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
)

// The command in the hint about a wrong cell reads the table as the job does: it has a flag for each
// part of the format.
func TestHintDescribesTheFormat(t *testing.T) {
	form := prepare.CSV{Delimiter: ";", Decimal: ",", Missing: []string{"NA", "-"}, Encoding: "latin1", Names: []string{"x", "y"}, Thousands: "'", Comment: "#", Headers: []string{"a", "b"}, Quote: "'"}
	s := job.Source{File: "t.csv"}
	s.Mapping = prepare.Mapping{CSV: form, Columns: map[string]prepare.Theirs{"befund 1": {As: "outcome"}}}
	var hinted *Error
	if !errors.As(suggestInfo(&dataset.SyntaxError{Line: 2}, s, job.Data{Label: "outcome"}), &hinted) {
		t.Fatal("no hint")
	}
	const want = `mercer data info t.csv --label 'befund 1' --encoding 'latin1' --csv-delimiter ';' --decimal ',' --thousands ''\''' --missing 'NA,-' --comment '#' --quote ''\''' --names 'x,y' --headers 'a,b' lists all problems of the table`
	if hinted.Hint != want {
		t.Errorf("%s\nwant %s", hinted.Hint, want)
	}
	if fields, flags := reflect.TypeOf(form).NumField(), strings.Count(flagsOf(form), " --"); flags != fields {
		t.Errorf("%d flags describe %d parts of the format", flags, fields)
	}
}

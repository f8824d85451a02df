package catalogue

import (
	"errors"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
)

// Words that can follow # in the name of a generated table.
const (
	radial = "rbf"
	sparse = "sparse="
	marked = "binary="
)

// loadGenerated generates a table from its name. ROWSxCOLUMNS gives two classes, and
// ROWSxCOLUMNSxCLASSES the given number of classes. A word after # selects a table whose labels
// follow radial basis functions.
func loadGenerated(name string, c Columns) (*dataset.Set, error) {
	ref := Generated + name
	size, form, formed := strings.Cut(name, "#")
	sizes, err := numbers(size)
	if err != nil || len(sizes) < 2 || len(sizes) > 3 {
		return nil, &Error{ref, "has no size; write " + Generated + "ROWSxCOLUMNS, such as " + Generated + "1000x10", err}
	}
	if err := checkUnnamed(ref, c); err != nil {
		return nil, err
	}
	var set *dataset.Set
	switch {
	case formed && len(sizes) > 2:
		return nil, &Error{ref, "always has two classes with a part after #; leave out the third number", nil}
	case formed:
		var problem string
		if set, problem, err = generateForm(form, sizes[0], sizes[1]); problem != "" {
			return nil, &Error{ref, problem, nil}
		}
	case len(sizes) > 2:
		set, err = generated.Clusters(sizes[0], sizes[1], sizes[2])
	default:
		set, err = generated.Clouds(sizes[0], sizes[1])
	}
	if err != nil {
		return nil, &Error{ref, "cannot be generated: " + strings.TrimPrefix(err.Error(), "dataset/generated: "), err}
	}
	if set.Name = ref; c.Label == noColumn {
		set.Labels = nil
	}
	return set, nil
}

// numbers parses numbers that are separated by x.
func numbers(size string) ([]int, error) {
	var list []int
	var bad []error
	for text := range strings.SplitSeq(size, "x") {
		n, err := strconv.Atoi(text)
		list, bad = append(list, n), append(bad, err)
	}
	return list, errors.Join(bad...)
}

// generateForm generates a table of a given form. The form is the word after # in the table's name.
// problem describes an unknown word; otherwise it is "".
func generateForm(form string, rows, columns int) (set *dataset.Set, problem string, err error) {
	if form == radial {
		set, err = generated.Bells(rows, columns, 1)
		return set, "", err
	}
	for word, table := range map[string]func(rows, columns int, density float64) (*dataset.Set, error){sparse: generated.Bells, marked: generated.Marks} {
		share, is := strings.CutPrefix(form, word)
		if density, bad := strconv.ParseFloat(share, 64); is && bad == nil {
			set, err = table(rows, columns, density)
			return set, "", err
		}
	}
	return nil, "has an unknown part after #; write #" + radial + ", #" + sparse + "0.05 for rows of which 5 % is not zero, or #" + marked + "0.05 for the same with ones", nil
}

package bundled

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

//go:embed data/digits.csv.gz data/wdbc.csv data/ATTRIBUTION.md
var files embed.FS

// Info describes a bundled data set.
type Info struct {
	Name       string
	Title      string
	Rows, Cols int
	Classes    int
	Source     string // authors, year, repository and web address
	Licence    string
	file       string
}

func catalogue() []Info {
	return []Info{{
		Name: "digits", Title: "Optical Recognition of Handwritten Digits (8 x 8 pixels, 0 to 16)",
		Rows: 1797, Cols: 64, Classes: 10,
		Source:  "E. Alpaydin, C. Kaynak, 1998, UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/80",
		Licence: "CC BY 4.0", file: "data/digits.csv.gz",
	}, {
		Name: "wdbc", Title: "Breast Cancer Wisconsin (Diagnostic); 0 malignant, 1 benign",
		Rows: 569, Cols: 30, Classes: 2,
		Source:  "W. Wolberg, O. Mangasarian, N. Street, W. Street, 1995, UCI Machine Learning Repository, https://archive.ics.uci.edu/dataset/17",
		Licence: "CC BY 4.0", file: "data/wdbc.csv",
	}}
}

// Names returns the sorted names that Load accepts.
func Names() []string {
	var names []string
	for _, info := range catalogue() {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	return names
}

// Lookup returns the description of the named data set. The error for an unknown name lists the
// names and suggests a similar one, if there is one.
func Lookup(name string) (Info, error) {
	for _, info := range catalogue() {
		if info.Name == name {
			return info, nil
		}
	}
	meant := ""
	if near, ok := fuzzymatch.Nearest(name, Names()...); ok {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return Info{}, fmt.Errorf("dataset/bundled: no data set is called %q%s (there are %s)", name, meant, strings.Join(Names(), ", "))
}

// Load reads the named data set. For an unknown name, it returns the error of [Lookup]. Each call
// returns a fresh copy.
func Load(name string) (*dataset.Set, error) {
	info, err := Lookup(name)
	if err != nil {
		return nil, err
	}
	b, err := files.ReadFile(info.file)
	if err != nil {
		return nil, fmt.Errorf("dataset/bundled: %w", err)
	}
	set, err := dataset.ReadCSV(bytes.NewReader(b), dataset.CSVOptions{Name: name, Label: "last"})
	if err != nil {
		return nil, fmt.Errorf("dataset/bundled: %w", err)
	}
	return set, nil
}

// Attribution returns the authors, the licence and the changes of all data sets. The licence
// requires that users pass this text on.
func Attribution() (string, error) {
	b, err := files.ReadFile("data/ATTRIBUTION.md")
	if err != nil {
		return "", fmt.Errorf("dataset/bundled: %w", err)
	}
	return string(b), nil
}

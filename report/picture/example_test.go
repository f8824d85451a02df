package picture_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/report"
	"github.com/mercer-fl/mercer/report/picture"
)

// A curve becomes two files.
func Example() {
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p, err := picture.OfCurve(&report.Curve{Title: "accuracy", X: "bins", Steps: []string{"64", "256"}, Lines: []report.Line{{Name: "SecVM", Values: []float64{.55, .63}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := picture.Save(filepath.Join(dir, "figure3"), p); err != nil {
		fmt.Println(err)
		return
	}
	files, err := os.ReadDir(dir)
	fmt.Println(files[0].Name(), files[1].Name(), err)
	// Output: figure3.png figure3.svg <nil>
}

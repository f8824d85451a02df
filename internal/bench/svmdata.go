package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// find returns the path of a file of the data folder, if it is there.
func find(lib catalogue.Library, name string) (string, error) {
	path, err := lib.Find(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", unavailable{fmt.Sprintf("%s is not in the data folder; set %s to one that has it", name, catalogue.Variable)}
	}
	return path, err
}

// twoClouds writes rows of two classes that overlap: normal values whose mean
// is the class's, and one label in fifty wrong. The file is the same on every
// machine.
func twoClouds(dir string, rows, columns int) (string, error) {
	const apart, wrong = .25, .02
	s := prg.New([32]byte{}, "bench/svm")
	set := &dataset.Set{Labels: make([]string, rows)}
	x := linalg.New[float64](rows, columns)
	for i := range rows {
		side := float64(2*(i%2) - 1)
		for j := range x.Row(i) {
			// Four decimals, which text and both programs hold alike.
			x.Row(i)[j] = math.Round(1e4*(s.NormFloat64()+apart*side)) / 1e4
		}
		if s.Float64() < wrong {
			side = -side
		}
		set.Labels[i] = fmt.Sprint(side)
	}
	set.X = dataset.NewDense(x)
	return filepath.Join(dir, "train"), create(filepath.Join(dir, "train"), set)
}

func create(path string, set *dataset.Set) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.WriteLIBSVM(f, set)
}

// load reads the file as the training does.
func load(path string) (set *dataset.Set, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.ReadLIBSVM(f, dataset.LIBSVMOptions{Name: path})
}

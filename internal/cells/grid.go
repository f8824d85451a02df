package cells

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
)

// gridWork is the type of work whose cells are the kernels and folds of a grid. Cell k*F+f is kernel
// k on fold f of F folds.
const gridWork = "grid"

// These are limits on the inputs of a grid.
const (
	maxRows       = 1 << 16
	maxLabelBytes = 1 << 10
	maxKernelText = 1 << 12
	maxGridBytes  = 1 << 28 // bytes of all inputs but the Gram matrix
	maxOutputs    = 1 << 20 // columns of a trial's outputs
)

// writeGrid writes the inputs of a grid: settings, labels and folds, and then the Gram matrix row by
// row.
func writeGrid(to io.Writer, v *learner.Validation) error {
	n := v.Problem.Gram.Rows
	if n > maxRows {
		return fmt.Errorf("cells: the Gram matrix has %d rows; other processes can compute cells of at most %d rows", n, maxRows)
	}
	settings, err := encodeSettings(v)
	if err != nil {
		return err
	}
	var w wire.Writer
	w.Bytes32(settings)
	if _, err := to.Write(w.Bytes()); err != nil {
		return err
	}
	for i := range n {
		var row wire.Writer
		row.Float64s(v.Problem.Gram.Row(i))
		if _, err := to.Write(row.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func encodeSettings(v *learner.Validation) ([]byte, error) {
	var w wire.Writer
	w.Uint32(uint32(len(v.Kernels)))
	for _, k := range v.Kernels {
		text, err := json.Marshal(k)
		if err != nil {
			return nil, fmt.Errorf("cells: %w", err)
		}
		w.String(string(text))
	}
	w.Bytes32(job.EncodeLearners(v.Learners))
	w.Uint32(uint32(v.Folds))
	w.Uint64(v.Seed)
	w.String(v.Score)
	w.Uint32(uint32(len(v.Problem.Test)))
	for _, held := range v.Problem.Test {
		w.Bool(held)
	}
	for _, list := range [][]string{v.Problem.Labels, v.Problem.Groups, v.Problem.Order} {
		w.Bool(list != nil)
		w.Strings(list)
	}
	return w.Bytes(), nil
}

// readGrid reads the inputs of a grid.
func readGrid(in *inputs, reader *job.Reader) (*learner.Validation, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, err
	}
	n := int64(wire.NewReader(size[:]).Uint32())
	switch {
	case n > maxGridBytes:
		return nil, fmt.Errorf("the settings have %d bytes; at most %d are allowed", n, maxGridBytes)
	case n > in.size:
		return nil, fmt.Errorf("the settings have %d bytes, but the file has only %d", n, in.size)
	}
	settings := make([]byte, n)
	if _, err := io.ReadFull(in, settings); err != nil {
		return nil, err
	}
	v, err := decodeSettings(settings, reader)
	if err != nil {
		return nil, err
	}
	rows := len(v.Problem.Test)
	if 8*int64(rows)*int64(rows) > in.size {
		return nil, fmt.Errorf("the file is too short for a Gram matrix of %d rows", rows)
	}
	if in.cells != len(v.Kernels)*v.Folds {
		return nil, fmt.Errorf("the inputs announce %d cells, but have %d kernels and %d folds", in.cells, len(v.Kernels), v.Folds)
	}
	v.Problem.Gram = linalg.New[float64](rows, rows)
	line := make([]byte, 8*rows)
	for i := range rows {
		if _, err := io.ReadFull(in, line); err != nil {
			return nil, err
		}
		wire.NewReader(line).Float64s(v.Problem.Gram.Row(i))
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("the inputs do not end after the Gram matrix"), err)
	}
	return v, nil
}

func decodeSettings(b []byte, reader *job.Reader) (*learner.Validation, error) {
	r := wire.NewReader(b)
	v := &learner.Validation{}
	for range r.Count(job.MaxCells, 2) {
		var k kernel.Spec
		if text := r.String(maxKernelText); r.Err() == nil {
			if err := json.Unmarshal([]byte(text), &k); err != nil {
				r.Fail(err)
			}
		}
		v.Kernels = append(v.Kernels, k)
	}
	learners := r.Bytes32(job.MaxBytes)
	v.Folds, v.Seed, v.Score = int(r.Uint32()), r.Uint64(), r.String(maxLabelBytes)
	rows := r.Count(maxRows, 1)
	v.Problem.Test = make([]bool, rows)
	for i := range v.Problem.Test {
		v.Problem.Test[i] = r.Bool()
	}
	for _, list := range []*[]string{&v.Problem.Labels, &v.Problem.Groups, &v.Problem.Order} {
		given := r.Bool()
		if *list = r.Strings(rows, maxLabelBytes); r.Err() == nil && !given && *list != nil {
			r.Fail(errors.New("the inputs have labels, groups or an order that they mark as missing"))
		}
	}
	if err := r.Close("cells: inputs of a grid"); err != nil {
		return nil, err
	}
	var err error
	if v.Learners, err = reader.DecodeLearners(learners); err != nil {
		return nil, err
	}
	return v, checkGrid(v)
}

// checkGrid refuses inputs whose parts do not fit each other.
func checkGrid(v *learner.Validation) error {
	rows := len(v.Problem.Test)
	switch {
	case len(v.Kernels) == 0:
		return errors.New("the inputs have no kernel")
	case len(v.Learners) == 0:
		return errors.New("the inputs have no learner")
	case v.Folds < 2 || v.Folds > rows:
		return fmt.Errorf("the inputs have %d folds; 2 to %d are possible, because there are %d rows", v.Folds, rows, rows)
	case v.Problem.Labels != nil && len(v.Problem.Labels) != rows:
		return fmt.Errorf("the inputs have %d labels for %d rows", len(v.Problem.Labels), rows)
	case v.Problem.Groups != nil && len(v.Problem.Groups) != rows:
		return fmt.Errorf("the inputs have groups of %d rows, but there are %d rows", len(v.Problem.Groups), rows)
	}
	return nil
}

// openGrid reads the inputs of a grid, and returns the function that computes a cell of it.
func openGrid(ctx context.Context, in *inputs, reader *job.Reader) (work, error) {
	v, err := readGrid(in, reader)
	if err != nil {
		return nil, fmt.Errorf("cells: the inputs: %w", err)
	}
	try, err := v.Trier(ctx)
	if err != nil {
		return nil, err
	}
	return func(cell int) ([]byte, error) {
		trials, err := try(cell/v.Folds, cell%v.Folds)
		return encodeTrials(trials), err
	}, nil
}

// encodeTrials encodes the trials of one kernel and fold. Trials whose numbers have equal bits give equal bytes.
func encodeTrials(trials []tune.Trial) []byte {
	var w wire.Writer
	w.Uint32(uint32(len(trials)))
	for _, t := range trials {
		w.Float64(t.Score)
		w.Uint32(uint32(t.Correct))
		w.Uint32(uint32(t.Outputs.Rows))
		w.Uint32(uint32(t.Outputs.Cols))
		for i := range t.Outputs.Rows {
			w.Float64s(t.Outputs.Row(i))
		}
	}
	return w.Bytes()
}

// decodeTrials decodes trials. There must be one for each setting, with one row of outputs for each
// test row.
func decodeTrials(b []byte, settings, rows int) ([]tune.Trial, error) {
	r := wire.NewReader(b)
	trials := make([]tune.Trial, r.Count(job.MaxCells, 20))
	if r.Err() == nil && len(trials) != settings {
		r.Fail(fmt.Errorf("there are %d trials; the grid has %d settings", len(trials), settings))
	}
	for i := range trials {
		t := tune.Trial{Score: r.Float64(), Correct: int(r.Uint32())}
		n, columns := int(r.Uint32()), int(r.Uint32())
		switch {
		case r.Err() != nil:
			return nil, r.Close("cells: result")
		case n != rows || t.Correct > rows || columns > maxOutputs || 8*n*columns > r.Len():
			r.Fail(fmt.Errorf("a trial has %d correct of %d rows and %d columns in %d bytes; the fold has %d rows", t.Correct, n, columns, r.Len(), rows))
			return nil, r.Close("cells: result")
		}
		t.Outputs = linalg.New[float64](n, columns)
		r.Float64s(t.Outputs.Data)
		trials[i] = t
	}
	return trials, r.Close("cells: result")
}

// sameShape reports whether two lists have equally many trials, and their outputs equally many columns.
func sameShape(a, b []tune.Trial) bool {
	return slices.EqualFunc(a, b, func(x, y tune.Trial) bool { return x.Outputs.Cols == y.Outputs.Cols })
}

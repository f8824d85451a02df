package cli

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/model"
)

// sheet is a table that is written as CSV: of predictions, or of the numbers of classes. In a table of predictions, the
// first columns name the rows. The others hold truth, prediction, scores, deviation and probabilities, as far as they
// are known.
type sheet struct {
	header []string
	rows   [][]string
}

// add appends a column to the table.
func (s *sheet) add(name string, cells []string) {
	s.header = append(s.header, name)
	for i, cell := range cells {
		s.rows[i] = append(s.rows[i], cell)
	}
}

// encode returns the table as CSV.
func (s *sheet) encode() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.WriteAll(append([][]string{s.header}, s.rows...)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ordinals returns the numbers 1 to n as texts.
func ordinals(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i + 1)
	}
	return list
}

func integers(values []int) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		cells[i] = strconv.Itoa(v)
	}
	return cells
}

// addPrediction adds columns with a model's predictions for the rows.
func (s *sheet) addPrediction(p admin.Prediction) {
	if p.Predicted != nil {
		s.add("predicted", p.Predicted)
	}
	if !p.Learner.Regresses() && len(p.Decisions) > 0 {
		s.addNumbers(scoreNames(p.Learner.OutputShape(), p.Classes, len(p.Decisions[0])), scores(p))
	}
	if p.Deviations != nil {
		s.add("deviation", numbers(p.Deviations))
	}
	if p.Probabilities != nil {
		s.addNumbers(prefixed("probability ", p.Classes), p.Probabilities)
	}
}

// numeral writes a number with all its digits. It writes -0 as 0.
func numeral(v float64) string { return strconv.FormatFloat(v+0, 'g', -1, 64) }

func (s *sheet) addNumbers(names []string, values [][]float64) {
	for k, name := range names {
		cells := make([]string, len(values))
		for i, row := range values {
			cells[i] = numeral(row[k])
		}
		s.add(name, cells)
	}
}

// scores returns the numbers of a prediction. Of two classes, a single number above 0 predicts the last one,
// which is the positive class. LIBSVM's sign, which the single pair of an svc has, is the opposite.
func scores(p admin.Prediction) [][]float64 {
	if len(p.Classes) != 2 || p.Learner.OutputShape() != model.Pairs {
		return p.Decisions
	}
	turned := make([][]float64, len(p.Decisions))
	for i, row := range p.Decisions {
		turned[i] = []float64{-row[0]}
	}
	return turned
}

// scoreNames returns the names of the numbers that a model gives for a row. A single number for two
// classes is named by the class that a number above 0 predicts, see scores. With more classes, the number of
// a pair is named by both of its classes; above 0 it favours the first of them.
func scoreNames(shape model.OutputShape, classes []string, n int) []string {
	var names []string
	switch {
	case n == 1 && len(classes) == 2:
		names = []string{"score (above 0: " + classes[1] + ")"}
	case shape == model.Pairs:
		for i, a := range classes {
			for _, b := range classes[i+1:] {
				names = append(names, fmt.Sprintf("score %s over %s", a, b))
			}
		}
	case len(classes) == n:
		names = prefixed("score ", classes)
	case n == 1:
		names = []string{"score"}
	default:
		what := "component "
		if shape == model.Distances {
			what = "distance "
		}
		names = prefixed(what, ordinals(n))
	}
	return names
}

func prefixed(prefix string, names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = prefix + name
	}
	return list
}

// heldOutSheet returns a table of the predictions of a job's held-out rows. It returns nil if this
// process has no labels for the rows. named adds the columns that name the rows.
func heldOutSheet(o *method.Outcome, named func(*sheet)) (*sheet, error) {
	if o == nil || len(o.Truth) == 0 {
		return nil, nil
	}
	output := model.Output{Kind: o.Kind, Classes: o.Classes}
	if err := output.Check(o.Decisions.Cols); err != nil {
		return nil, err
	}
	s := &sheet{rows: make([][]string, len(o.Truth))}
	named(s)
	s.add("truth", o.Truth)
	s.addPrediction(admin.NewPrediction(output, o.Decisions))
	return s, nil
}

// sheetOf returns a table of the predictions of a job's held-out rows, in a process with the data
// of all parties.
func sheetOf(j *job.Job, shares []partition.Share, o *method.Outcome) (*sheet, error) {
	splits, err := partition.Splits(j, shares)
	if err != nil || j.Data.Partition.By == job.Columns {
		splits = nil // without splits, rowNamer takes the ids from the outcome
	}
	return heldOutSheet(o, rowNamer(shares, splits, o))
}

// addPositions adds a column with the position of each held-out row in the job.
func (s *sheet) addPositions() { s.add("row", ordinals(len(s.rows))) }

// rowNamer returns a function that adds columns which identify the held-out rows. If the outcome has the
// ids of its rows, the only column is the ids. Otherwise the columns hold the party of a row, the line in the
// party's file, and the id if all tables have ids. If some table has no lines, the positions of all rows in the
// parties' tables replace the lines. If the outcome's rows are not in the order of the shares, the only column
// is the positions in the job.
func rowNamer(shares []partition.Share, splits []method.Split, o *method.Outcome) func(*sheet) {
	var party, id, labels []string
	var lines, positions []int
	for k, split := range splits {
		for i, held := range split.Test {
			if !held {
				continue
			}
			party, positions = append(party, shares[k].Party), append(positions, i+1)
			if split.Set.Lines != nil {
				lines = append(lines, split.Set.Lines[i])
			}
			if split.Set.IDs != nil {
				id = append(id, split.Set.IDs[i])
			}
			if split.Set.Labels != nil {
				labels = append(labels, split.Set.Labels[i])
			}
		}
	}
	return func(s *sheet) {
		if o.Held != nil {
			s.add("id", o.Held)
			return
		}
		if n := len(o.Rows) - len(s.rows); n >= 0 && o.Rows != nil { // parties that hold columns share the ids in o.Rows; the held-out rows are last
			s.add("id", o.Rows[n:])
			return
		}
		if !slices.Equal(labels, o.Truth) {
			s.addPositions()
			return
		}
		s.add("party", party)
		if len(lines) == len(party) {
			s.add("line", integers(lines))
		} else {
			s.add("row", integers(positions))
		}
		if len(id) == len(party) {
			s.add("id", id)
		}
	}
}

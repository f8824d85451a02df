package report

import (
	"errors"
	"fmt"
	"math"
)

// Run is the content of a report. Every field except the title can be empty; the page then leaves
// out that part.
type Run struct {
	Title   string
	Subject string   // one sentence that says what the model predicts, from what and for whom
	Verdict string   // one sentence that says how useful the model is
	Notes   []string // sentences that say why the scores lack a value or a comparison
	Privacy []string // lines that say who can reconstruct rows, and why
	Next    []string // sentences on whether parties would refuse the job, on the files, and on the next command
	Refused []string // why parties would refuse the job, or withhold a part of the result
	Failure string   // why the job failed; "" if it did not
	HeldOut int      // number of held-out rows; if it is small, the page shows shares with two decimals
	Summary []Row    // description of the job: data, protocol, kernel, learner
	Metrics []string // columns of the table of scores; a bar chart shows the first
	Scores  []Score  // rows of the table of scores, in order
	Unit    string   // unit of the training data, "rows" if empty
	Tables  []Table  // tables with more detailed values
	Matrix  *Matrix  // confusion matrix of the held-out rows; nil: none
	Graphs  []Graph
	Grid    Grid // candidates among which the parameters were chosen
	Boxes   []Boxes
	Curves  []Curve
	Timings []Timing // times of each stage, in the order in which the stages ran
	Traffic []Traffic
	Leakage []Leak // what each role learns, in the order of the page
	Facts   []Row  // further facts, such as hashes, paths and versions
	Job     string // text of the job file
}

// Row is a name with its value.
type Row struct{ Label, Value string }

// Score holds the held-out metrics of one kind of training. The page shows a missing metric, or one
// that is not finite, as not known.
type Score struct {
	Name   string
	Kind   Kind
	Rows   int // number of training rows; 0 is shown as not known
	Values map[string]float64
}

// Kind is a kind of training. It says which parties learn, and from which rows.
type Kind string

// The kinds of scores.
const (
	Constant Kind = "constant" // the best answer that ignores the columns; nobody learns
	Alone    Kind = "alone"    // one party learns from its own rows
	Together Kind = "together" // all parties learn by a protocol
	Sums     Kind = "sums"     // all parties learn from sums over their rows
	Pooled   Kind = "pooled"   // a learner on all rows in one place, without privacy
)

// kindNames lists all kinds for errors.
const kindNames = `"constant", "alone", "together", "sums" or "pooled"`

func (k Kind) known() bool {
	return k == Constant || k == Alone || k == Together || k == Sums || k == Pooled
}

// Grid is a table of parameter combinations and their cross-validated scores, with one row for each
// combination.
type Grid struct {
	Columns  []string
	Rows     []Cell
	ChosenBy string // criterion of the choice; "" for none
}

// Cell is one row of a grid, with a text for each column.
type Cell struct {
	Texts []string
	Best  bool // the job chose this row
}

// Timing is the wall time of a stage and its processor time, summed over all cores. CPU is 0 if it
// was not measured.
type Timing struct {
	Stage        string
	Seconds, CPU float64
}

// Traffic holds the numbers of bytes that a member sent and received.
type Traffic struct {
	Name           string
	Sent, Received uint64
}

// Leak describes, in sentences, the information that a role learns beyond its own data.
type Leak struct {
	Role  string
	Lines []string
}

// Validate returns an error if a report of the run cannot be written.
func (r *Run) Validate() error {
	if r.Title == "" {
		return errors.New("report: a run has no title; give it the name of the job")
	}
	if len(r.Scores) > 0 && len(r.Metrics) == 0 {
		return errors.New("report: the scores have no metric; name at least one")
	}
	for _, s := range r.Scores {
		if !s.Kind.known() {
			return fmt.Errorf("report: score %q is of kind %q; use %s", s.Name, s.Kind, kindNames)
		}
	}
	for i, c := range r.Grid.Rows {
		if len(c.Texts) != len(r.Grid.Columns) {
			return fmt.Errorf("report: row %d of the grid has %d texts for %d columns; the numbers must be equal", i+1, len(c.Texts), len(r.Grid.Columns))
		}
	}
	if err := r.validateParts(); err != nil {
		return err
	}
	for _, t := range r.Timings {
		if !(t.Seconds >= 0) || !(t.CPU >= 0) || math.IsInf(t.Seconds+t.CPU, 0) {
			return fmt.Errorf("report: stage %q has the wall time %g s and the processor time %g s; times must be finite and not negative", t.Stage, t.Seconds, t.CPU)
		}
	}
	return nil
}

// validateParts returns an error if a chart or a table cannot be drawn.
func (r *Run) validateParts() error {
	var parts []interface{ validate() error }
	for i := range r.Boxes {
		parts = append(parts, &r.Boxes[i])
	}
	for i := range r.Curves {
		parts = append(parts, &r.Curves[i])
	}
	for i := range r.Graphs {
		parts = append(parts, &r.Graphs[i])
	}
	for i := range r.Tables {
		parts = append(parts, &r.Tables[i])
	}
	if r.Matrix != nil {
		parts = append(parts, r.Matrix)
	}
	for _, p := range parts {
		if err := p.validate(); err != nil {
			return err
		}
	}
	return nil
}

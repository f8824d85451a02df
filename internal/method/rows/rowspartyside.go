// Package rows has the common code of the methods for parties that hold different rows. It splits a
// table, and gives all parties a common column order, preparation and scaling.
package rows

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/columnorder"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Party is the state of a party with rows during a job. A method's own party embeds it.
type Party struct {
	method.Instance
	Self    string
	Split   method.Split
	Rows    linalg.Rows                      // all rows of the split, in scaled form once Scaling is set
	Scaling scale.Scaling                    // the common scaling; empty before the step scale, or if the job has none
	Lets    func() ([]method.Release, error) // returns the method's releases of these rows

	edition method.Edition
	label   string   // the name of the label column, if the catalogue states it
	key     [32]byte // a secret that all parties share and the coordinator does not know; set by the step column-order
	fit     fitter
	notices []string     // messages to the party's operator about its own columns
	raw     *dataset.Set // the table before preparation, if the job fits a preparation
	gridded *dataset.Set // the table whose grid counts; nil before a table is prepared, and after grid is computed
	grid    method.Grid
	stream  *streamed // the table, if it is read in blocks; Split.Set then has its columns alone
	kept    []byte    // the earlier job's fit that prepares the rows; nil before this fit arrives, or if the job reuses no fit
}

// Of checks a party's table, holds out rows and returns the party for a job. Errors describe faults
// of the data and how to correct them. They may quote the data, and belong in the party's own log
// only.
func Of(c method.Instance, self string, t method.Table) (*Party, error) {
	if t.Stream != nil {
		return ofStream(c, self, t)
	}
	fit := c.Job.Data.Fit
	if fit.Tells(self) {
		return Unfitted(c, self, t)
	}
	p, err := unprepared(c, self, t)
	switch {
	case err != nil:
	case fit.Named():
		err = errors.Join(p.begin(func(*prepare.Frame) error { return nil }), p.prepareByKept(t.Fit))
	default:
		err = p.begin(p.checkEnough)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Unfitted returns the party for a job, like Of, but the party fits nothing. It receives the fitted
// preparation or has kept it.
func Unfitted(c method.Instance, self string, t method.Table) (*Party, error) {
	p, err := unprepared(c, self, t)
	if err == nil {
		err = p.begin(func(*prepare.Frame) error { return nil })
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// unprepared checks a table, holds out rows and returns the party without a preparation.
func unprepared(c method.Instance, self string, t method.Table) (*Party, error) {
	split, err := Split(c.Job, self, t)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkPrivate(c.Job, split.Set), checkSideSizes(c.Limits, c.Job, listed(split))); err != nil {
		return nil, err
	}
	if GroupsFolds(c.Job) && split.Set.Groups == nil {
		return nil, dataset.NoColumn(c.Job.Data.Group, "%s has no column %s to keep the rows of groups together by", split.Set.Name, dataset.Quote(c.Job.Data.Group))
	}
	p := &Party{Instance: c, Self: self, Split: split, Rows: dataset.RowsOf(split.Set.X), label: t.Label, edition: t.Edition}
	if p.frame() == nil {
		p.gridded = split.Set
	}
	return p, nil
}

// Step is one of the steps with which a job begins. No such step depends on public values.
type Step = method.StepOf[Party, Witness, struct{}]

// Steps returns the steps that begin a job. In these steps the parties agree on a common column
// order and, if the job has them, on a common preparation and scaling.
func Steps(c method.Instance) ([]Step, error) { return steps(c, "preparation") }

// StepsAgain returns the same steps as [Steps], for parties that fit a second time.
func StepsAgain(c method.Instance) ([]Step, error) { return steps(c, "preparation again") }

func steps(c method.Instance, sum string) ([]Step, error) {
	if err := c.Job.Data.CheckParties(c.Parties); err != nil {
		return nil, fault.BadInput(err)
	}
	plan := []Step{columnOrderStep(c)}
	if c.Job.Data.Fit.Named() {
		return append(plan, keptSteps(c)...), nil
	}
	if c.Job.Data.Prepares() {
		fitting, err := preparing(c, sum)
		if err != nil {
			return nil, err
		}
		plan = append(plan, fitting...)
	}
	if !c.Job.Data.ScalesTogether() {
		return plan, nil
	}
	s, err := scaleStep(c)
	return append(plan, s), err
}

// columnOrderStep returns the step that brings the columns of all parties into one order, by their
// names. It precedes all computations on rows of several tables. The coordinator is not a member of
// its session.
func columnOrderStep(c method.Instance) Step {
	step := Step{Name: "column-order", Session: &method.Session{
		Protocol: columnorder.Name, Version: columnorder.Version, Members: c.DataParties(), Purpose: "train",
	}, Party: (*Party).columnOrder, Releases: method.ReleasesNothing[Party], Cost: columnOrderCost(c.Job)}
	if agreesOnClasses(c.Job) { // each party sends the leader its classes, even a class with a single row
		step.Releases, step.Session.Discloses = method.With((*Party).lets, method.ReleaseLabels), []string{columnorder.MatchKind}
	}
	return step
}

// scaleStep returns the step in which the parties fit a common scaling. The coordinator is not a
// member of its session.
func scaleStep(c method.Instance) (Step, error) {
	params, err := scaleParams(c.Job)
	return Step{Name: "scale", Session: &method.Session{
		Protocol: scale.Name, Version: scale.Version, Params: params.Encode(), Members: c.DataParties(), Purpose: "train",
	}, Party: (*Party).scaler, Releases: releasesFits, Cost: scaleCost}, err
}

// releasesFits states what a party releases to other parties in a fitting step. These are numbers
// computed from its rows, or words of its rows. A fit, like the job's other releases, reveals more
// together with an earlier fit.
var releasesFits = method.With((*Party).lets, method.ReleaseFits)

func (p *Party) lets() ([]method.Release, error) {
	if p.Lets == nil {
		return nil, errors.New("rows: the method must state the releases of its rows in the field Lets")
	}
	return p.Lets()
}

// Tested reports whether the job holds out all the party's rows.
func (p *Party) Tested() bool { return p.Job.Data.Test.Party == p.Self }

// Grid returns the grid of the table's numbers. It can have to sort every column, so only protocols that need
// the grid compute it.
func (p *Party) Grid() method.Grid {
	if p.gridded != nil {
		p.grid, p.gridded = method.GridOf(p.gridded), nil
	}
	return p.grid
}

// Width returns the number of the party's columns.
func (p *Party) Width() int { return p.Split.Set.X.Cols() }

// Release describes the party's release of its rows in a job. Before the fit, the description lacks only the
// fitted values, so the party can already ask its ledger.
func (p *Party) Release(kind method.ReleaseKind) method.Release {
	r := p.Instance.Release(kind, p.Self, p.label, p.read())
	if p.stream != nil {
		r.Blocks, r.Count = p.stream.released(p.Job, p.Tested()), p.Count(p.Tested())
	}
	if r.Edition = p.edition; r.Edition.ID != "" && kind != method.ReleaseRows {
		r.Edition = p.edition.Without(p.Job.Data.Test)
	}
	switch fit := p.Job.Data.Fit; {
	case !p.Job.Data.Fits():
	case fit.Tells(p.Self):
		r.Fit = method.Fit{By: method.ToldFit, Earlier: fit.Job}
		if p.kept != nil {
			r.Fit.Values = p.Fitted()
		}
	case fit.Named():
		r.Fit = method.Fit{By: method.KeptFit, Values: p.Fitted(), Earlier: fit.Job}
	default:
		r.Fit = method.Fit{By: method.NewFit, Among: p.Split.Rows(p.Tested()), Train: p.fitters()}
		if p.HasFitted() {
			r.Fit.Values = p.Fitted()
		}
	}
	return r
}

// fitters lists the leader, followed by the parties whose rows enter the fit, in ascending order. The leader
// comes first because it learns more than the other parties.
func (p *Party) fitters() []string {
	return append([]string{p.Parties[0]}, slices.Sorted(slices.Values(p.Job.Data.Training(p.Parties)))...)
}

// HasFitted reports whether the party has all values that the job fits.
func (p *Party) HasFitted() bool {
	return (p.Split.Prepared != nil || !p.Job.Data.FitsSchema()) && (len(p.Scaling.Offset) > 0 || !p.Job.Data.ScalesTogether())
}

// Leakage extends a job's leakage statement. It adds what each role learns in the steps of this
// package. Argument features is the number of columns, or 0 if it is secret.
func Leakage(c method.Instance, lines map[string][]string, features int) {
	addMissing(lines, namesLeakage(c))
	fitLeakage(c, lines, features)
}

// addMissing adds sentences to a leakage statement, except those that it already contains.
func addMissing(lines, more map[string][]string) {
	for role, list := range more {
		for _, line := range list {
			if !slices.Contains(lines[role], line) {
				lines[role] = append(lines[role], line)
			}
		}
	}
}

// namesLeakage describes what each role learns before the parties fit anything.
func namesLeakage(c method.Instance) map[string][]string {
	lines := make(map[string][]string)
	addMissing(lines, heldOutLeakage(c))
	addMissing(lines, foldLeakage(c))
	addMissing(lines, weightLeakage(c.Job))
	addMissing(lines, columnorder.Leakage(columnorder.Facts{Leader: c.Parties[0], Classes: agreesOnClasses(c.Job)}))
	return lines
}

// fitLeakage describes what each role learns while the parties fit the preparation.
func fitLeakage(c method.Instance, lines map[string][]string, features int) {
	if c.Job.Data.Fit.Named() {
		keptLeakage(c, lines)
		return
	}
	if c.Job.Data.Fits() {
		addMissing(lines, map[string][]string{"party": {"Two fits, before and after a few people joined or left, would reveal these people's values to every party. Each party's release ledger blocks the second fit before it starts, until the party's operator approves it."}})
	}
	if c.Job.Data.Prepares() {
		addMissing(lines, preparationLeakage(c))
	}
	if c.Job.Data.ScalesTogether() {
		addMissing(lines, scale.Leakage(scale.Facts{Method: scale.Method(c.Job.Data.Scale), Leader: c.Parties[0], Parties: len(c.Job.Data.Training(c.Parties)), Columns: features}))
	}
}

// heldOutLeakage describes what each role learns if the job itself selects the held-out rows.
func heldOutLeakage(c method.Instance) map[string][]string {
	if test := c.Job.Data.Test; test.Column != "" {
		return map[string][]string{
			"server": {fmt.Sprintf("The job itself selects the held-out rows (%s), not a key of the party: which rows of a party are held out, or how many, reveals something about their %s. Jobs with other bounds reveal it more precisely.", test.Chosen(), dataset.Quote(test.Column))},
		}
	}
	party := c.Job.Data.Test.Party
	if party == "" {
		return nil
	}
	return map[string][]string{
		"server": {fmt.Sprintf("The job holds out all rows of %s: its figures are over these rows alone, and show how well the others' model serves %s.", party, party)},
		"party":  {fmt.Sprintf("Every reader of the result learns how the rows of %s differ from the others' in how well the model predicts them.", party)},
	}
}

// foldLeakage describes what each role learns if parties assign groups to folds.
func foldLeakage(c method.Instance) map[string][]string {
	if !GroupsFolds(c.Job) {
		return nil
	}
	return map[string][]string{"server": {fmt.Sprintf(
		"The server learns from each party in which of %d folds it has put each training row, but no group. Rows of different folds are of different groups, and if a party has few groups, a fold may be one %s. Jobs with other numbers of folds reveal more precisely which rows belong together.",
		c.Job.Data.Folds, dataset.Quote(c.Job.Data.Group))}}
}

// checkSideSizes refuses a table that the job's bound divides into too few training or held-out rows.
// The bounds of two jobs together would give the dates or numbers of these few rows so closely that they
// identify the rows.
func checkSideSizes(f method.Limits, j *job.Job, s sizes) error {
	if j.Data.Test.Column == "" {
		return nil
	}
	training, held := s.count(false), s.count(true)
	if training < f.TrainingRows || held < f.HeldOutRows {
		return method.TooFew("the job holds out %s: %d rows of this table, and %d train; this party needs at least %d held-out rows and %d training rows", j.Data.Test.Chosen(), held, training, f.HeldOutRows, f.TrainingRows)
	}
	return nil
}

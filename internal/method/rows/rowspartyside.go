// Package rows holds the common part of methods for parties that hold different rows: a
// table's split, one order of columns, one scaling.
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

// Party is a holder of rows while a job runs. A method's own party embeds it.
type Party struct {
	method.Instance
	Self    string
	Split   method.Split
	Rows    linalg.Rows // all rows of the split; scaled once the scaling is known
	Grid    method.Grid
	Scaling scale.Scaling                    // empty before the step scale, or without one
	Lets    func() ([]method.Release, error) // what the method lets out of these rows

	edition method.Edition
	label   string   // the column of the labels, where the catalogue says
	key     [32]byte // of all parties and not of the coordinator; after the step column-order
	fit     fitter
	notices []string     // about the party's own columns
	raw     *dataset.Set // the table as it was read, where its preparation is fitted
	kept    []byte       // the fit of an earlier job by which rows are prepared; nil before it is told, or of none
}

// Of prepares a party's table for a job. Errors are faults of the data and tell the party
// what to do. They may quote the data, and are for the party's own log.
func Of(c method.Instance, self string, t method.Table) (*Party, error) {
	fit := c.Job.Data.Fit
	if fit.Tells(self) {
		return Unfitted(c, self, t)
	}
	p, err := unprepared(c, self, t)
	switch {
	case err != nil:
	case fit.Named():
		err = errors.Join(p.begin(func(*prepare.Frame) error { return nil }), p.by(t.Fit))
	default:
		err = p.begin(p.enough)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Unfitted is Of for a party that fits nothing: it is told how all prepare their rows, or has
// kept it.
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

// unprepared checks a table and holds rows out.
func unprepared(c method.Instance, self string, t method.Table) (*Party, error) {
	split, err := Split(c.Job, self, t)
	if err != nil {
		return nil, err
	}
	if err := checkSides(c.Limits, c.Job, split); err != nil {
		return nil, err
	}
	if GroupsFolds(c.Job) && split.Set.Groups == nil {
		return nil, dataset.NoColumn(c.Job.Data.Group, "%s has no column %s to keep the rows of groups together by", split.Set.Name, dataset.Quote(c.Job.Data.Group))
	}
	p := &Party{Instance: c, Self: self, Split: split, Rows: dataset.RowsOf(split.Set.X), label: t.Label, edition: t.Edition}
	if p.frame() == nil {
		p.Grid = method.GridOf(split.Set.X)
	}
	return p, nil
}

// Step is one of the sessions with which a job begins. None follows from public values.
type Step = method.StepOf[Party, Witness, struct{}]

// Steps returns the sessions with which a job begins: one order of columns and, if the
// job has them, one preparation and one scaling.
func Steps(c method.Instance) ([]Step, error) { return steps(c, "preparation") }

// StepsAgain returns the same sessions of a job whose parties begin anew, after they have fitted
// once.
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

// columnOrderStep brings the columns of all parties into one order, by their names. It
// comes before anything is computed from rows of several tables. The coordinator is
// no member of its session.
func columnOrderStep(c method.Instance) Step {
	step := Step{Name: "column-order", Session: &method.Session{
		Protocol: columnorder.Name, Version: columnorder.Version, Members: c.DataParties(), Purpose: "train",
	}, Party: (*Party).columnOrder, Releases: method.ReleasesNothing[Party]}
	if agreesOnClasses(c.Job) { // each party tells the leader its classes, one of a single row, too
		step.Releases, step.Session.Discloses = method.With((*Party).lets, method.ReleaseLabels), []string{columnorder.MatchKind}
	}
	return step
}

// scaleStep brings the features of all parties to one scale. The coordinator is no
// member of its session.
func scaleStep(c method.Instance) (Step, error) {
	params, err := scaleParams(c.Job)
	return Step{Name: "scale", Session: &method.Session{
		Protocol: scale.Name, Version: scale.Version, Params: params.Encode(), Members: c.DataParties(), Purpose: "train",
	}, Party: (*Party).scaler, Releases: fits}, err
}

// fits states what a step tells other parties: numbers over this party's rows, or words of them. What
// is fitted tells more beside an earlier fit, as what the job lets out does.
var fits = method.With((*Party).lets, method.ReleaseFits)

func (p *Party) lets() ([]method.Release, error) {
	if p.Lets == nil {
		return nil, errors.New("rows: the method does not say what it lets out of its rows")
	}
	return p.Lets()
}

// Tested reports whether all the party's rows are held out.
func (p *Party) Tested() bool { return p.Job.Data.Test.Party == p.Self }

// Width is the number of features.
func (p *Party) Width() int { return p.Split.Set.X.Cols() }

// Release describes what the party lets out of its rows in a job. Of all that is fitted it depends on
// the fit's own values alone, so that the ledger can be asked before.
func (p *Party) Release(kind method.ReleaseKind) method.Release {
	r := p.Instance.Release(kind, p.Self, p.label, p.read())
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

// fitters lists the parties on whose rows the job fits, the leader first, who learns more than the
// others.
func (p *Party) fitters() []string {
	return append([]string{p.Parties[0]}, slices.Sorted(slices.Values(p.Job.Data.Training(p.Parties)))...)
}

// HasFitted reports whether the party knows all that the job fits.
func (p *Party) HasFitted() bool {
	return (p.Split.Prepared != nil || !p.Job.Data.FitsSchema()) && (len(p.Scaling.Offset) > 0 || !p.Job.Data.ScalesTogether())
}

// Leakage adds the leakage of these steps to the statement of a job's leakage. The number of
// features is 0 where nobody is told.
func Leakage(c method.Instance, lines map[string][]string, features int) {
	add(lines, namesLeakage(c))
	fitLeakage(c, lines, features)
}

// add adds sentences that are not there yet.
func add(lines, more map[string][]string) {
	for role, list := range more {
		for _, line := range list {
			if !slices.Contains(lines[role], line) {
				lines[role] = append(lines[role], line)
			}
		}
	}
}

// namesLeakage tells what is learnt before anything is fitted.
func namesLeakage(c method.Instance) map[string][]string {
	lines := make(map[string][]string)
	add(lines, heldOutLeakage(c))
	add(lines, foldLeakage(c))
	add(lines, columnorder.Leakage(columnorder.Facts{Leader: c.Parties[0], Classes: agreesOnClasses(c.Job)}))
	return lines
}

// fitLeakage tells what is learnt while the parties fit how they prepare their rows.
func fitLeakage(c method.Instance, lines map[string][]string, features int) {
	if c.Job.Data.Fit.Named() {
		keptLeakage(c, lines)
		return
	}
	if c.Job.Data.Fits() {
		add(lines, map[string][]string{"party": {"Two fits, before and after few people came or went, would tell every party their values: each party's release ledger holds the second before anything is fitted, until its operator approves it."}})
	}
	if c.Job.Data.Prepares() {
		add(lines, preparationLeakage(c))
	}
	if c.Job.Data.ScalesTogether() {
		add(lines, scale.Leakage(scale.Facts{Method: scale.Method(c.Job.Data.Scale), Leader: c.Parties[0], Parties: len(c.Job.Data.Training(c.Parties)), Columns: features}))
	}
}

// heldOutLeakage tells what is learnt by a job that says itself which rows are held out.
func heldOutLeakage(c method.Instance) map[string][]string {
	if test := c.Job.Data.Test; test.Column != "" {
		return map[string][]string{
			"server": {fmt.Sprintf("The job holds out %s, and no key of a party: which rows of a party are held out, or how many, tells of their %s. Jobs with other bounds tell it more closely.", test.Chosen(), dataset.Quote(test.Column))},
		}
	}
	party := c.Job.Data.Test.Party
	if party == "" {
		return nil
	}
	return map[string][]string{
		"server": {fmt.Sprintf("The job holds out all rows of %s: its figures are over these rows alone, and tell how well the model of the others serves %s.", party, party)},
		"party":  {fmt.Sprintf("Whoever reads the result learns how the rows of %s differ from the others' in what the model gets right.", party)},
	}
}

// foldLeakage tells what is learnt from folds by groups.
func foldLeakage(c method.Instance) map[string][]string {
	if !GroupsFolds(c.Job) {
		return nil
	}
	return map[string][]string{"server": {fmt.Sprintf(
		"Each party tells the server in which of %d folds it has put each training row, and no group: rows of different folds are of different ones, and of a party with few of them a fold may be one %s. Jobs with other numbers of folds tell more closely which rows belong together.",
		c.Job.Data.Folds, dataset.Quote(c.Job.Data.Group))}}
}

// checkSides refuses a table of which the job's bound leaves few rows on one side: beside another
// bound they would be known by their dates.
func checkSides(f method.Limits, j *job.Job, s method.Split) error {
	if j.Data.Test.Column == "" {
		return nil
	}
	training := len(s.Rows(false))
	if held := len(s.Test) - training; training < f.TrainingRows || held < f.HeldOutRows {
		return method.TooFew("the job holds out %s: %d rows of this table, and %d train; this party asks for %d and %d", j.Data.Test.Chosen(), held, training, f.HeldOutRows, f.TrainingRows)
	}
	return nil
}

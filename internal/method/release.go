package method

import (
	"cmp"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/linalg"
)

// ReleaseKind names the kind of data that a session releases.
type ReleaseKind string

// The kinds. Only rows and sums are compared with releases of another kind.
const (
	ReleaseProducts ReleaseKind = "products" // of rows over the columns: Gram matrices
	ReleaseIDs      ReleaseKind = "ids"      // which are common to all parties
	ReleasePhases   ReleaseKind = "phases"   // of rows over the columns, in a sum: distances
	ReleaseRows     ReleaseKind = "rows"     // encoded by an isometry: a Gram matrix of all of them
	ReleaseSums     ReleaseKind = "sums"     // over the rows, of features' products
	ReleaseFit      ReleaseKind = "fit"      // of a dictionary, on all rows, by which later jobs prepare rows
)

// The kinds that accompany other releases and are part of their ledger entries.
const (
	ReleaseCounts    ReleaseKind = "counts"    // of rows, by a class or without
	ReleaseErrors    ReleaseKind = "errors"    // sums over held-out rows
	ReleaseFits      ReleaseKind = "fits"      // numbers over the rows, or words of them, by which rows are prepared
	ReleaseFolds     ReleaseKind = "folds"     // which rows are folded together
	ReleaseLabels    ReleaseKind = "labels"    // of each row, or their list
	ReleaseQuestions ReleaseKind = "questions" // rows that the party itself asks about, encoded
)

// Beside reports whether a kind accompanies other releases.
func (k ReleaseKind) Beside() bool {
	return slices.Contains([]ReleaseKind{ReleaseCounts, ReleaseErrors, ReleaseFits, ReleaseFolds, ReleaseLabels, ReleaseQuestions}, k)
}

// AlsoReleases returns a function that states a release of this kind for each party. The release
// accompanies the job's release of rows: the ledger enters, blocks and approves both together.
func AlsoReleases[P any](kind ReleaseKind) func(*P) ([]Release, error) {
	return func(*P) ([]Release, error) { return []Release{{Kind: kind}}, nil }
}

// With adds an accompanying release to the releases that a function states.
func With[P any](states func(*P) ([]Release, error), kind ReleaseKind) func(*P) ([]Release, error) {
	return func(p *P) ([]Release, error) {
		list, err := states(p)
		return append(list, Release{Kind: kind}), err
	}
}

// Beside lists the kinds of accompanying releases of a job's steps, ascending.
func Beside(all [][]Release) []ReleaseKind {
	var kinds []ReleaseKind
	for _, r := range slices.Concat(all...) {
		if r.Kind.Beside() {
			kinds = append(kinds, r.Kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// Release describes the data that a party releases in one session.
type Release struct {
	Kind     ReleaseKind
	Also     []ReleaseKind // the accompanying releases of the job, ascending
	Job      string        // its name, for the operator to know it by; the ID does not depend on it
	Question bool          // about more rows of a model
	Peers    []string
	Scale    string       // how columns are scaled
	Label    string       // the column that is released as labels, or enters sums; "" for none
	Table    string       // the catalogue's name, by which rows without ids are known
	Edition  Edition      // of which the rows are, or its training rows; zero where they are compared one by one
	Schema   string       // the text of the job's schema, as far as it is about the table, and of its views; "" without one
	Set      *dataset.Set // as it was read, before anything is fitted; with labels where these go into sums
	Fit      Fit          // by which encoded rows are prepared
	Split    string       // the rows that the job itself says are held out, in words; "" where the party's key says it
	Among    []int        // the released rows of the set; nil for all
	Classes  bool         // labels are classes, and there is a sum for each
	// Model names the job that the rows are for, or whose model predicts them; "" if no later
	// release depends on it and nothing is counted.
	Model string
	// Directions counts the random directions that are released for each row.
	Directions int
	// Numbers counts the numbers in sums, and Cells the cells of all rows that enter them. Before
	// all parties have declared their rows, Numbers is an upper and Cells a lower estimate. Both
	// are zero if nobody counts.
	Numbers, Cells int64
}

// Fit describes the values that parties have fitted on rows and use to prepare rows. Two fits of
// the same rows reveal information about their columns. The zero value means that nothing is
// fitted.
type Fit struct {
	By     FitBy
	Values []byte   // an encoding of the fit; nil before it is known
	Among  []int    // the rows of the set on which this party's part is fitted in this job
	Train  []string // the parties on whose rows it is fitted, the leader first; nil where each fits alone
	// Earlier names the job in which a party that keeps a fit may have received it.
	Earlier job.ID
}

// FitBy names the origin of a fit.
type FitBy int

// The origins.
const (
	NoFit   FitBy = iota
	NewFit        // of this job
	KeptFit       // of an earlier job that this one continues
	ToldFit       // of an earlier job, and known once the rows are encoded by it
)

// Release describes the rows that a party releases in one session of the instance; label is the
// column of the labels if the catalogue decides it.
func (c Instance) Release(kind ReleaseKind, party, label string, rows *dataset.Set) Release {
	r := Release{Kind: kind, Job: c.Job.Name, Peers: []string{c.Coordinator}, Scale: string(c.Job.Data.Scale), Table: c.Job.Data.Source, Schema: schemaText(c.Job, party), Set: rows}
	for _, name := range c.Parties {
		if name != party {
			r.Peers = append(r.Peers, name)
		}
	}
	if rows.Labels != nil {
		r.Label = cmp.Or(label, c.Job.Data.Label)
	}
	return r
}

// WithoutColumns describes a party's release that shows nothing of its columns, only labels or
// counts of these rows.
func (r Release) WithoutColumns() Release {
	bare := *r.Set
	bare.X, bare.Columns = dataset.NewDense(linalg.New[float64](r.Set.X.Rows(), 0)), nil
	r.Set, r.Scale, r.Fit, r.Directions = &bare, "", Fit{}, 0
	return r
}

// schemaText returns the text of a party's schema, and of the views if a learner has rows sent in
// two views: products within a view are over its columns alone.
func schemaText(j *job.Job, party string) string {
	text := j.Data.SchemaText(party)
	if d := j.Data.Dictionary; d != nil {
		text = "dictionary " + d.Hash() // whatever the job picks of it
	}
	if learner.UsesViews(j) {
		text += "\nviews: " + j.Learner.Text()
	}
	return text
}

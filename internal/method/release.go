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

// The kinds of releases. Among releases of different kinds, the ledger compares only rows with sums or
// models.
const (
	ReleaseProducts ReleaseKind = "products" // inner products of rows over the columns: Gram matrices, or margins made of such products
	ReleaseIDs      ReleaseKind = "ids"      // ids that are common to all parties
	ReleasePhases   ReleaseKind = "phases"   // random-feature phases of rows, summed over all parties' columns; distances follow from them
	ReleaseRows     ReleaseKind = "rows"     // rows that are encoded by an isometry or, in protocol escaped, masked; the Gram matrix of all rows follows from them
	ReleaseSums     ReleaseKind = "sums"     // sums over the rows: of products of two features or, in protocol secureboost, of gradients by bin
	ReleaseModels   ReleaseKind = "models"   // weights that follow from sums over rows; nobody sees these sums
	ReleaseFit      ReleaseKind = "fit"      // values of a dictionary, fitted on all rows, with which later jobs prepare rows
	ReleaseNoise    ReleaseKind = "noise"    // results of sums over the rows with added noise: differentially private
)

// These kinds of releases accompany the kinds above and are part of their ledger entries, except questions,
// which a party itself asks.
const (
	ReleaseCounts    ReleaseKind = "counts"    // row counts, in total or by class
	ReleaseErrors    ReleaseKind = "errors"    // sums of errors over held-out rows
	ReleaseFits      ReleaseKind = "fits"      // statistics or category words of the rows, with which rows are prepared
	ReleaseFolds     ReleaseKind = "folds"     // assignment of rows to folds
	ReleaseWeights   ReleaseKind = "weights"   // weight of each training row
	ReleaseLabels    ReleaseKind = "labels"    // labels of each row, or the list of labels that occur
	ReleaseQuestions ReleaseKind = "questions" // encoded rows of the party's own queries
)

// Summed reports whether a release of the kind follows from sums over rows. Two such releases whose rows
// differ by few people reveal data about these people.
func (k ReleaseKind) Summed() bool { return k == ReleaseSums || k == ReleaseModels }

// Beside reports whether a release of the kind only accompanies other releases.
func (k ReleaseKind) Beside() bool {
	return slices.Contains([]ReleaseKind{ReleaseCounts, ReleaseErrors, ReleaseFits, ReleaseFolds, ReleaseWeights, ReleaseLabels, ReleaseQuestions}, k)
}

// AlsoReleases returns a function that states one release of the given kind for each party. The
// release accompanies the job's other releases. The ledger enters, blocks and approves both
// together.
func AlsoReleases[P any](kind ReleaseKind) func(*P) ([]Release, error) {
	return func(*P) ([]Release, error) { return []Release{{Kind: kind}}, nil }
}

// With adds an accompanying release to the releases that a function returns.
func With[P any](states func(*P) ([]Release, error), kind ReleaseKind) func(*P) ([]Release, error) {
	return func(p *P) ([]Release, error) {
		list, err := states(p)
		return append(list, Release{Kind: kind}), err
	}
}

// Beside lists the kinds of accompanying releases among all releases of a job, in ascending order.
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
	Also     []ReleaseKind // the kinds of all accompanying releases in the job, ascending
	Job      string        // the job's name, shown to the operator; the release's ID does not depend on it
	Question bool          // the release belongs to a query about new rows
	Peers    []string
	Scale    string       // how columns are scaled
	Label    string       // the column of the labels that are released or enter sums; "" for none
	Weight   string       // the column of the weights that are released; "" for none
	Table    string       // the table's name in the catalogue; the ledger identifies rows without ids by this name
	Edition  Edition      // the edition that holds the rows; zero if the ledger compares rows one by one
	Schema   string       // the text of the job's schema for this table, or its dictionary's hash; then the learner's views if it uses two
	Set      *dataset.Set // the table as read, before anything is fitted; with labels if sums include labels
	Fit      Fit          // the fitted values that prepare the rows
	Split    string       // a description of the rows that the job holds out; "" if the party's key selects them
	Among    []int        // the released rows of the set; nil for all
	// Blocks reads a table that is not in memory, of which Set has the columns alone. It calls use with
	// each block, the number of rows before it, and the block's released rows. Count is the number of
	// all released rows.
	Blocks  func(use func(before int, block *dataset.Set, among []int) error) error
	Count   int
	Classes bool // labels are classes, and each class has its own sum
	// Model names the job that trains on the rows, or whose model predicts them. It is "" if no
	// later release depends on it and the ledger counts nothing. For noise it names the job and the attempt, because
	// the ledger charges each attempt once.
	Model string
	// Directions is the number of random directions that are released for each row.
	Directions int
	// Numbers is how many numbers the released sums or models have. Cells is how many table cells enter
	// them. Before all parties have declared their rows, both are estimates, and Numbers divided by Cells
	// is then at least the true ratio. Both are zero for a release that is not counted.
	Numbers, Cells int64
	// Rho is the cost of a release of kind [ReleaseNoise] in zero-concentrated differential privacy, above 0: the
	// costs of all such releases of a table add up. Epsilon and Delta are the guarantee that the job names. All
	// three are 0 in other kinds.
	Rho, Epsilon, Delta float64
	// Known lists names besides Table by which the ledger knows the table of a noisy release after a renaming, such as
	// the file that it is read from. None of them depends on rows.
	Known []string
	// Study is the hash of the study inside which the job lies; "" for none. The operator has approved
	// what the jobs of a study reveal together.
	Study string
}

// Fit describes the values that parties fit on rows and use to prepare rows. Two fits of the same
// rows reveal information about the columns of these rows. The zero value means that no values are
// fitted.
type Fit struct {
	By     FitBy
	Values []byte   // the encoded fit; nil before it is known
	Among  []int    // this party's rows that the fit uses in this job, or all of them if the job holds them all out; nil if each party fits alone
	Train  []string // the parties whose rows the fit uses, the leader first; nil if each party fits alone
	// Earlier names the job from which the party has, or receives, the fit.
	Earlier job.ID
}

// FitBy names the origin of a fit.
type FitBy int

// The origins.
const (
	NoFit   FitBy = iota
	NewFit        // this job fits the values
	KeptFit       // the values come from an earlier job that this job continues, or whose fit it reuses
	ToldFit       // the values come from an earlier job; the party learns them in a session of this job
)

// Release describes the rows that a party releases in one session of the instance. Argument label
// is the column of the labels if the catalogue chooses this column.
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
	if rows.Weights != nil && kind == ReleaseRows {
		r.Weight = c.Job.Data.Weight
	}
	return r
}

// WithoutColumns returns the release of labels or counts of the same rows, without their columns.
func (r Release) WithoutColumns() Release {
	bare := *r.Set
	bare.X, bare.Columns = dataset.NewDense(linalg.New[float64](r.Set.X.Rows(), 0)), nil
	r.Set, r.Scale, r.Fit, r.Directions = &bare, "", Fit{}, 0
	return r
}

// schemaText returns the text of a party's schema. If the learner uses two views, it adds the text
// of the views, because products within a view are over its columns alone.
func schemaText(j *job.Job, party string) string {
	text := j.Data.SchemaText(party)
	if d := j.Data.Dictionary; d != nil {
		text = "dictionary " + d.Hash() // the hash of the whole dictionary, whichever columns the job picks
	}
	if learner.UsesViews(j) {
		text += "\nviews: " + j.Learner.Text()
	}
	return text
}

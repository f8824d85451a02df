// Package partition divides one table among parties, or reads each party's own table. It runs only
// in a process that owns the data of all parties. No package of a daemon imports it: a daemon runs no
// code that sees two parties' rows.
package partition

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// Share is the table that one party holds.
type Share struct {
	Party string
	Table method.Table
}

// Loader reads one source of a job file.
type Loader func(s job.Source, d job.Data) (*dataset.Set, error)

// Shares reads the job's data and returns each party's share. All its errors are input errors: the
// job file or the data is at fault.
func Shares(j *job.Job, load Loader) ([]Share, error) {
	shares, err := shareOut(j, load)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	together := splitKey(j, everyParty)
	for i := range shares {
		shares[i].Table.Key = splitKey(j, shares[i].Party)
		shares[i].Table.Together = &together
	}
	for _, s := range shares {
		// Check the share before the job starts. In a deployment, only the log of the party's
		// daemon shows such an error.
		if err := checkShare(j, s); err != nil {
			return nil, fault.BadInput(fmt.Errorf("%s: %w", s.Party, err))
		}
	}
	if advice, common := idAdvice(j, shares); advice != "" && common == 0 {
		return nil, fault.BadInput(errors.New(advice))
	}
	if err := checkMemory(j, shares); err != nil {
		return nil, fault.BadInput(err)
	}
	return shares, nil
}

// everyParty replaces a party's name in the key of rows whose columns several parties hold. No party
// can have this name.
const everyParty = "*"

// splitKey returns the key that selects a party's held-out rows. This process derives the key from
// the job's seed, so that another run holds out the same rows.
func splitKey(j *job.Job, party string) dataset.SplitKey {
	var w wire.Writer
	w.String("mercer/v1/split/simulated")
	w.Uint64(j.Seed)
	w.String(party)
	return sha256.Sum256(w.Bytes())
}

// checkShare returns the error that a party's daemon would report for this share, or nil.
func checkShare(j *job.Job, s Share) error {
	if !j.Data.Private {
		if err := checkNumbers(j, s.Table); err != nil {
			return err
		}
	}
	m, err := method.Of(j)
	if err != nil { // method.Of knows only protocols that a coordinator and parties run
		_, err = rows.Split(j, s.Party, s.Table)
		return err
	}
	_, err = m.Party(method.Instance{Job: j, Parties: j.Parties()}, s.Party, s.Table)
	return err
}

// checkNumbers refuses a table with numbers of which sums are inexact.
func checkNumbers(j *job.Job, t method.Table) error {
	if err := dataset.CheckMagnitude(t.Set, t.HeldOut); err != nil || t.Set == nil || j.Data.Scale != job.None {
		return err
	}
	return t.Set.CheckSpread()
}

func shareOut(j *job.Job, load Loader) ([]Share, error) {
	if j.Data.Partition.By == job.Columns {
		return shareColumns(j, load)
	}
	if j.Data.Sources != nil {
		return readEachParty(j, load)
	}
	sets, err := partition(j, j.Data.Source, j.Data.Partition.Skew, load)
	if err != nil {
		return nil, err
	}
	shares := make([]Share, len(sets))
	for i, set := range sets {
		shares[i] = Share{owners(j)[i], method.Table{Set: set}}
	}
	if j.Data.Test.Source == "" {
		return shares, nil
	}
	held, err := partition(j, j.Data.Test.Source, 0, load)
	if err != nil {
		return nil, err
	}
	for i := range shares {
		shares[i].Table.HeldOut = asWide(held[i], shares[i].Table.Set.X.Cols())
	}
	return shares, nil
}

// tableHolder is the name that replaces a party's name in a job without parties.
const tableHolder = "table"

// owners returns the names of the holders of a job's rows.
func owners(j *job.Job) []string {
	if j.Parties() == nil {
		return []string{tableHolder}
	}
	return j.Parties()
}

// asWide gives held-out sparse rows as many columns as the training rows. A text that never names
// the last columns is read with fewer columns.
func asWide(set *dataset.Set, cols int) *dataset.Set {
	sparse, ok := set.X.(*dataset.CSR)
	if !ok || sparse.Cols() >= cols {
		return set
	}
	wide := *set
	wide.X = sparse.Widened(cols)
	return &wide
}

// readEachParty reads the source of each party. The parties' columns must agree. This process sees
// all columns, so the error can name those that differ.
func readEachParty(j *job.Job, load Loader) ([]Share, error) {
	var shares []Share
	var names []string
	var sets []*dataset.Set
	for _, s := range j.Data.Sources {
		set, err := load(s, j.Data)
		if err != nil {
			return nil, withParty(s.Party, err)
		}
		shares = append(shares, Share{s.Party, method.Table{Set: set}})
		names, sets = append(names, s.Party), append(sets, set)
	}
	return shares, rows.Alike(j, names, sets)
}

// withParty adds the party's name to an error about a class or a column of the schema, because the files of
// several parties can have the same name.
func withParty(party string, err error) error {
	var unlisted *dataset.ClassError
	var unlike *prepare.UnlikeError
	if errors.As(err, &unlisted) || errors.As(err, &unlike) {
		return fmt.Errorf("%s: %w", party, err)
	}
	return err
}

// Splits divides the rows of each share into training and held-out rows. It arranges the columns in
// the order of the first party's columns.
func Splits(j *job.Job, shares []Share) ([]method.Split, error) {
	names := make([]string, len(shares))
	for i, s := range shares {
		names[i] = s.Party
	}
	list, err := unprepared(j, shares)
	if err != nil {
		return nil, err
	}
	return list, rows.PrepareTogether(j, names, list)
}

// PooledSplits divides the rows of each share like [Splits], but prepares the tables without the
// parties' limits.
func PooledSplits(j *job.Job, shares []Share) ([]method.Split, error) {
	list, err := unprepared(j, shares)
	if err != nil {
		return nil, err
	}
	return list, rows.PreparePooled(j, list)
}

// unprepared returns the training and held-out rows of each party as they were read.
func unprepared(j *job.Job, shares []Share) ([]method.Split, error) {
	list := make([]method.Split, len(shares))
	for i, s := range shares {
		var err error
		if list[i], err = rows.Split(j, s.Party, s.Table); err != nil {
			return nil, err
		}
		first := list[0].Set
		if list[i].Set, err = list[i].Set.Arrange(shares[0].Party+"'s table", first.X.Cols(), first.Columns); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// partition divides the rows of one source among the parties.
func partition(j *job.Job, source string, skew float64, load Loader) ([]*dataset.Set, error) {
	set, err := load(job.Source{File: source}, j.Data)
	if err != nil {
		return nil, err
	}
	if set, err = method.TakeLabels(j, set); err != nil {
		return nil, err
	}
	if j.Parties() == nil {
		return []*dataset.Set{set}, nil
	}
	var rows [][]int
	if set.Groups != nil {
		rows, err = dataset.ByGroups(set.Groups, len(j.Parties()), j.Seed)
	} else if j.Task().Classes || skew > 0 {
		rows, err = dataset.ByRows(set.Labels, len(j.Parties()), skew, j.Seed)
	} else {
		rows, err = dataset.ByRowsPlain(set.X.Rows(), len(j.Parties()), j.Seed)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", set.Name, err)
	}
	sets := make([]*dataset.Set, len(rows))
	for i, r := range rows {
		sets[i] = set.Subset(r)
	}
	return sets, nil
}

// exactRows is the largest number of rows for a comparison with the exact kernel. The Gram matrix
// of so many rows takes 2 GiB.
const exactRows = 1 << 14

// checkMemory returns an error if a requested comparison would need too much memory.
func checkMemory(j *job.Job, shares []Share) error {
	for _, s := range shares {
		if n := s.Table.Rows(); j.Compares(job.ExactKernel) && n > exactRows {
			return fmt.Errorf("%s has %d rows; the comparison with the exact kernel allows at most %d, because it needs a square matrix of the rows; remove \"exact-kernel\" from \"compare\"", s.Party, n, exactRows)
		}
	}
	return nil
}

// Classes counts the training rows and the held-out rows of each class over all parties. It returns
// nil for a job without classes, and for parties that hold columns, whose common rows are not yet
// known here. Only a process that owns all rows can count them.
func Classes(j *job.Job, shares []Share) ([]learner.ClassCount, error) {
	if !j.Task().Classes || j.Data.Partition.By == job.Columns || shares[0].Table.Set == nil {
		return nil, nil
	}
	splits, err := Splits(j, shares)
	if err != nil {
		return nil, err
	}
	return learner.CountClasses(pool.Labels(splits, false), pool.Labels(splits, true)), nil
}

// Withheld returns the parties that have too few held-out rows to show figures over these rows. It
// applies the default minimum counts, and assumes that the parties' policies allow these figures. a
// has the figures of a job that one process simulates.
func Withheld(j *job.Job, shares []Share, a *learner.Assessment) (list []Refusal, err error) {
	if !method.Federated(j) || a == nil || a.ByParty == nil {
		return nil, nil
	}
	splits, err := Splits(j, shares)
	if err != nil {
		return nil, err
	}
	for i, s := range splits {
		if len(s.Rows(true)) == 0 && j.Data.Test != (job.Test{}) {
			continue
		}
		if err := rows.CheckOwnFigures(method.DefaultLimits(), j, s); err != nil {
			list = append(list, Refusal{shares[i].Party, err.Error()})
		}
	}
	return list, nil
}

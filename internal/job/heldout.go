package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// HeldOutParties names the parties whose rows a job holds out in turn.
type HeldOutParties string

// Each holds out every party once, while all others train.
const Each HeldOutParties = "each"

// Splits lists the names of the methods by which a deployed job can choose its held-out rows. A party's
// policy allows each method by its name.
func Splits() []string { return []string{splitParty, splitColumn} }

const (
	splitParty  = "party"
	splitColumn = "column"
)

// Split returns the name of the method of [Splits] by which the job chooses the held-out rows. It returns ""
// for other tests, such as a fraction, of which keys of the parties draw the rows.
func (t Test) Split() string {
	if t.Party != "" || t.Parties != "" {
		return splitParty
	}
	if t.Column != "" {
		return splitColumn
	}
	return ""
}

// Chosen describes the held-out rows that the job chooses by a method of [Splits], such as "all rows of
// east". It returns "" for other tests.
func (t Test) Chosen() string {
	switch {
	case t.Party != "":
		return "all rows of " + t.Party
	case t.Parties != "":
		return "all rows of each party in turn"
	case t.Column != "":
		return fmt.Sprintf("rows with %s from %s on", section.Quote(t.Column), t.From)
	}
	return ""
}

// Words describes the held-out rows in words.
func (t Test) Words() string {
	switch {
	case t.Chosen() != "":
		return t.Chosen()
	case t.Source != "":
		return "rows of a source of their own"
	case t.Every > 0:
		return fmt.Sprintf("every row of %d", t.Every)
	case t.Fraction > 0:
		return fmt.Sprintf("a fraction of %g", t.Fraction)
	}
	return "no row"
}

// Training lists the parties that have training rows.
func (d *Data) Training(parties []string) []string {
	return slices.DeleteFunc(slices.Clone(parties), func(name string) bool { return name == d.Test.Party })
}

// WithoutParty returns the job with all rows of one party held out.
func (j *Job) WithoutParty(party string) *Job {
	others := *j
	others.Data.Test = Test{Party: party}
	return &others
}

// finishCut checks the column of a test and the least held-out value in it.
func (t *Test) finishCut(in *section.Place) error {
	if !in.Given("column") || !in.Given("from") || len(in.Lines) != 2 {
		return in.Refuse("", "test needs the keys \"column\" and \"from\" together, and no other key; write \"test: {column: admitted, from: 2024-01-01}\"")
	}
	if _, err := dataset.ParseBound(t.From); err != nil {
		return in.Refuse("from", "the key \"from\" is %s; write a day such as 2024-01-01, or a number", section.Quote(t.From))
	}
	return nil
}

// finishHeldOut refuses a test whose parties or rows the job cannot hold out.
func (d *Data) finishHeldOut(in *section.Place) error {
	if d.Test.Split() == "" {
		return nil
	}
	parties := (&Job{Data: *d}).Parties()
	switch {
	case d.Test.Column != "" && (d.Partition.By == Columns || d.Partition.By == Devices):
		return in.Refuse("test", "\"test\" by a column needs \"partition: {by: rows}\" in this version; use \"test: {fraction: 0.25}\"")
	case d.Test.Column != "" && (d.Test.Column == d.Label || d.Test.Column == d.ID):
		return in.Refuse("test", "\"test.column\" is %s, which is the label or the id; name another column", section.Quote(d.Test.Column))
	case d.Test.Column != "" && in.Given("features"):
		return in.Refuse("features", "\"features\" is for tables without column names, but \"test\" names a column; remove \"features\"")
	case d.Partition.By == Columns:
		return in.Refuse("test", "no party can be held out in a partition by columns, because all parties have the same people; use \"test: {fraction: 0.25}\"")
	case d.Partition.By == Devices:
		return in.Refuse("test", "devices have no parties to hold out; use \"test: {fraction: 0.25}\", or \"{every: 10}\" with ratings")
	case d.Test.Party != "" && parties != nil && !slices.Contains(parties, d.Test.Party):
		return in.Refuse("test", "test holds out %s, which is not a party of the job; name one of %s", section.Quote(d.Test.Party), strings.Join(parties, ", "))
	}
	return nil
}

// finishGroup refuses groups that the test or the partition could divide, and a column of groups that has
// another use.
func (d *Data) finishGroup(in *section.Place) error {
	switch {
	case d.Group == "":
		return nil
	case d.Partition.By == Columns || d.Partition.By == Devices:
		return in.Refuse("group", "\"group\" needs \"partition: {by: rows}\" in this version; remove \"group\"")
	case d.Group == d.Label || d.Group == d.ID:
		return in.Refuse("group", "\"group\" names %s, which is the label or the id; name another column, or remove \"group\"", section.Quote(d.Group))
	case d.Test.Every > 0 || d.Test.Source != "" || d.Test.Column != "":
		return in.Refuse("group", "\"group\" does not go with this test, which can divide a group; use \"test: {fraction: 0.25}\", \"{party: NAME}\" or \"{parties: each}\"")
	case d.Partition.Skew > 0:
		return in.Refuse("group", "\"skew\" divides rows by classes, but \"group\" keeps rows together; remove one of the two keys")
	case in.Given("features"):
		return in.Refuse("features", "\"features\" does not go with \"group\", which needs a table with column names; remove \"features\"")
	}
	return nil
}

// CheckParties refuses a list of parties that lacks the party whose rows the job holds out.
func (d *Data) CheckParties(parties []string) error {
	if name := d.Test.Party; name != "" && !slices.Contains(parties, name) {
		return fmt.Errorf("the job holds out all rows of %s, which is not among its parties %s; name one of them", name, strings.Join(parties, ", "))
	}
	return nil
}

package disclosure

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/method"
)

// The ledger compares releases of two editions of one table without their rows. It compares kinds,
// editions, columns, labels, weights, scales, fits, schemas and peers. When the home made the editions, it found which
// people differ.

// editionsOfOneTable reports whether both entries are of editions of the same table.
func (e *Entry) editionsOfOneTable(o *Entry) bool {
	return e.Edition != "" && o.Edition != "" && e.Table == o.Table
}

// otherTable reports whether two entries belong to different tables and at least one of them is of
// an edition. For these entries the ledger compares only which people are in both.
func (e *Entry) otherTable(o *Entry) bool {
	return (e.Edition != "" || o.Edition != "") && o.Table != "" && e.Table != o.Table
}

// byRows reports whether two entries are compared row by row.
func (e *Entry) byRows(o *Entry) bool {
	return o.Edition == "" && !e.otherTable(o)
}

// everybody is the result of commonPeople if the number of people is unknown or was not counted.
const everybody = -1

// commonPeople returns the number of people who are in both the release and an earlier one. It
// returns [everybody] if any number of people may be in both.
func (l Ledger) commonPeople(c *comparison, h head) (int, error) {
	switch {
	case c.now.otherTable(h.Entry):
		shared, err := l.mayShare(c, h)
		if shared {
			return everybody, err
		}
		return 0, err
	case h.Edition != "":
		return everybody, nil
	}
	earlier, err := l.read(h.file)
	if err != nil {
		return 0, err
	}
	if err := c.loadRows(); err != nil {
		return 0, err
	}
	return c.now.meet(earlier).common, nil
}

// loadRows loads the rows of a release of an edition, for a comparison row by row. It also makes
// the list c.known.
func (c *comparison) loadRows() (err error) {
	if c.now.loadEdition != nil {
		if c.now.Rows, c.now.More, err = c.now.loadEdition(); err != nil {
			return err
		}
		c.now.loadEdition = nil
	}
	if c.known == nil {
		c.known = make([]bool, len(c.now.Rows))
	}
	return nil
}

// tellsNew reports whether the release reveals anything new about the people of an earlier release.
// Nothing is new if a closer release has revealed the same about either edition.
func (c *comparison) tellsNew(h head) bool {
	d := c.distance(h.Entry)
	known := func(k head) bool {
		return (k.Edition == c.now.Edition || k.Edition == h.Edition) && k.Schema == c.now.Schema && c.distance(k.Entry) < d && (c.now.Question || !k.Question) && k.covers(c.now)
	}
	return c.now.Schema != h.Schema || !slices.ContainsFunc(c.heads, known)
}

// compareEditions compares the release of an edition with an earlier release of an edition of the
// same table.
func (c *comparison) compareEditions(h head) {
	d := c.distance(h.Entry)
	switch {
	case d == otherSettings && c.tellsNew(h) && c.now.Kind != method.ReleaseModels:
		c.note(h, c.now.revealsOtherSettings(h.Entry))
	case d == otherSettings && c.now.Kind.Summed():
		c.note(h, c.now.revealsFewOfEditions(h.Entry))
	case d == equalSettings, d == otherFit && (c.now.Fit.By == method.NewFit || c.tellsNew(h)):
		c.note(h, c.now.revealsEdition(h.Entry))
	}
}

// revealsEdition does the work of [Entry.revealsSameSettings] for two releases of editions.
func (e *Entry) revealsEdition(o *Entry) []string {
	var m meeting
	if e.Edition != o.Edition {
		m.came = 1 // two editions of one table differ in at least one row
	}
	switch {
	case e.fitted() && e.mayDifferInFit(o, m):
		return []string{refits(everybody)}
	case e.Kind.Summed():
		return e.revealsFewOfEditions(o)
	case e.Kind == method.ReleaseRows && !e.clears(o):
		return []string{fmt.Sprintf("one to nine people of edition %d may have other %s than in edition %d: the two jobs together reveal what changed", e.Number, e.released(), o.Number)}
	case e.Kind == method.ReleaseFit && e.Schema != o.Schema:
		return []string{fmt.Sprintf("this fit uses another dictionary than job %s, over the same table: the difference of the two fits is only over the cells that the two dictionaries read differently, and over people who came in between", o.Job)}
	case e.Kind == method.ReleaseFit && e.Edition != o.Edition:
		return []string{fmt.Sprintf("this fit is of edition %d, and the earlier one of edition %d: the difference of the two fits is only over people who came, went or changed in between. Jobs prepare their rows by the earlier fit; a new fit needs a new dictionary", e.Number, o.Number)}
	}
	return nil
}

// released names what a release of rows tells of each person.
func (e *Entry) released() string {
	if e.Weight == "" {
		return "values or labels"
	}
	return "values, labels or weights"
}

// revealsFewOfEditions does the work of [Entry.revealsFew] for two releases of editions.
func (e *Entry) revealsFewOfEditions(o *Entry) []string {
	switch {
	case e.Out != o.Out:
		return []string{fmt.Sprintf("this job holds out %s, and the earlier one %s: the difference of the two %s is over the rows that only one of them holds out", e.Out, o.Out, e.resultsNoun())}
	case e.clears(o):
		return nil
	case e.Numbers:
		return []string{fmt.Sprintf("of the people who came, went or changed between editions %d and %d, one to nine may have another label than the rest: %s", o.Number, e.Number, e.weightedTogether("these few alone"))}
	case e.Label != "":
		return []string{fmt.Sprintf("one to nine people of a class may have come, gone or changed between editions %d and %d: %s", o.Number, e.Number, e.ofClassTogether("these few alone"))}
	}
	return []string{fmt.Sprintf("one to nine people may have changed between editions %d and %d in a column that the job picks: the difference of the two %s reveals how", o.Number, e.Number, e.resultsNoun())}
}

// clears reports whether releases of two editions together reveal nothing about a group of one to
// nine people. The home found this when it made the later edition.
func (e *Entry) clears(o *Entry) bool {
	alike := e.sameColumns(o) && e.Label == o.Label && !e.addsWeights(o) && e.Numbers == o.Numbers && e.Schema == o.Schema
	return e.Edition == o.Edition || slices.Contains(e.Clear, o.Edition) || alike && slices.Contains(o.Clear, e.Edition)
}

// unlisted is the sentence for the operator if only the earlier release is of an edition.
const unlisted = "the earlier release is of an edition of the table and this one is not, so their rows cannot be compared"

// compareTables checks whether the release and an earlier release of another table may have people
// in common. At least one of the two releases is of an edition.
func (l Ledger) compareTables(c *comparison, h head) error {
	if h.Schema != c.now.Schema {
		return nil // compareSchemas compares releases with different schemas
	}
	same, err := l.mayShare(c, h)
	if same {
		c.note(h, []string{peopleInBoth})
	}
	return err
}

// peopleInBoth is the sentence for the operator if people are in two tables and one of the releases
// is of an edition.
const peopleInBoth = "some people are in both tables, and the ledger cannot compare row by row what the two releases together reveal about them"

// peoplePath returns the path of the file that lists an edition's people. The file serves
// comparisons with releases of other tables.
func (l Ledger) peoplePath(edition string) string {
	return filepath.Join(string(l), edition+peopleSuffix)
}

// forgetPeople removes the list of an edition's people if no disclosed or admitted release uses the
// edition.
func (l Ledger) forgetPeople() error {
	heads, err := l.heads()
	if err != nil {
		return err
	}
	names, err := l.names()
	for _, name := range names {
		edition, is := strings.CutSuffix(name, peopleSuffix)
		if is && !slices.ContainsFunc(heads, func(h head) bool { return h.Edition == edition }) {
			err = errors.Join(err, l.remove(l.peoplePath(edition)))
		}
	}
	return err
}

const peopleSuffix = ".people"

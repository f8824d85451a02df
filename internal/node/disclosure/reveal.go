package disclosure

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/method"
)

// leastPeople is the least number of people by which two sums may differ without approval. The
// difference of two such sums is a sum over many people.
const leastPeople = 10

// meeting counts the rows that a release and an earlier entry have in common, and the rows that
// only one of them has.
type meeting struct {
	common     int // rows in both
	changed    int // rows in both whose values differ
	relabelled int // rows in both whose values are equal, but whose labels differ
	reweighed  int // rows in both whose values and labels are equal, but whose weights differ
	came       int // rows only in the release
	went       int // rows only in the earlier entry
}

func (e *Entry) meet(earlier *Entry) meeting {
	var m meeting
	m.went = meet(e.Rows, earlier.Rows, func(i int, then Row) {
		m.common++
		now := e.Rows[i]
		switch {
		case now.Content != then.Content:
			m.changed++
		case e.relabels(now, earlier, then):
			m.relabelled++
		case e.reweighs(now, earlier, then):
			m.reweighed++
		}
	})
	m.came = len(e.Rows) - m.common
	return m
}

// revealsSameSettings describes what two releases with equal settings reveal together. It returns
// no sentence if they have no row in common, or the same rows with equal values, labels, weights and fit.
// Further rows of one model count as no difference, except in sums and models.
func (e *Entry) revealsSameSettings(earlier *Entry, oneModel bool) []string {
	m := e.meet(earlier)
	if m.common == 0 {
		return nil
	}
	if e.fitted() && e.mayDifferInFit(earlier, m) {
		return []string{refits(m.common)}
	}
	var said []string
	if m.changed > 0 {
		said = append(said, fmt.Sprintf("%s than in the earlier %s: the difference of the two %s reveals what changed",
			count(m.changed, "row has other values", "rows have other values"), earlier.noun(), e.resultsNoun()))
	}
	if m.relabelled > 0 {
		said = append(said, fmt.Sprintf("%s than in the earlier %s: together they reveal whose label changed, or who belongs to which of the classes that one of them merges",
			count(m.relabelled, "row has another label", "rows have other labels"), earlier.noun()))
	}
	if m.reweighed > 0 {
		said = append(said, fmt.Sprintf("%s than in the earlier %s: together they reveal whose weight changed",
			count(m.reweighed, "row has another weight", "rows have other weights"), earlier.noun()))
	}
	differ := m.came + m.went
	switch {
	case differ == 0 || e.Kind == method.ReleaseRows, oneModel && !e.Kind.Summed():
	case e.Kind.Summed():
		said = append(said, e.revealsFew(earlier, m)...)
	case e.Kind == method.ReleaseFit:
		said = append(said, fmt.Sprintf("%d rows are new in this fit, %d of the earlier one are missing: the difference of the two fits is over these rows alone. Jobs prepare their rows by the earlier fit; a new fit needs a new dictionary",
			m.came, m.went))
	case e.Kind == method.ReleaseIDs:
		said = append(said, fmt.Sprintf("%d ids are new in this set, %d of the earlier one are missing: comparing the two intersections reveals which of their people came or went", m.came, m.went))
	default:
		said = append(said, fmt.Sprintf("%d rows are new in this %s, %d of the earlier one are missing: comparing the two %s reveals which rows belong to the same people, and who came or went",
			m.came, e.noun(), m.went, e.resultsNoun()))
	}
	return said
}

// revealsFew describes the risk if two sums differ by few people, or by few people of one class.
func (e *Entry) revealsFew(earlier *Entry, m meeting) []string {
	if m.common == 0 || m.came+m.went == 0 {
		return nil
	}
	if e.grouped() != earlier.grouped() {
		return []string{"one of the two releases does not record which rows belong to one person, so " + e.together("one person")}
	}
	came, went := e.onlyHere(earlier), earlier.onlyHere(e)
	if differ := distinct(came, went); differ < leastPeople {
		return []string{fmt.Sprintf("%s in this job and not in the earlier one, %d in the earlier one alone: %s",
			count(distinct(came), "person is", "people are"), distinct(went), e.together(fmt.Sprintf("these %d alone", differ)))}
	}
	n := fewestOfAClass(e.Numbers, came, went)
	switch {
	case n == 0 || n >= leastPeople:
		return nil
	case e.Numbers:
		return []string{fmt.Sprintf("of the people in only one of the two jobs, %s another label than the rest: %s",
			count(n, "person has", "people have"), e.weightedTogether(fmt.Sprintf("these %d alone", n)))}
	}
	return []string{fmt.Sprintf("%s of one class and in only one of the two jobs: %s",
		count(n, "person is", "people are"), e.ofClassTogether(fmt.Sprintf("these %d alone", n)))}
}

// together says what two releases tell about the people who are in only one of them.
func (e *Entry) together(whom string) string {
	if e.Kind == method.ReleaseModels {
		return "the two models together tell about " + whom
	}
	return "the difference of the two sums is the sum over " + whom
}

// ofClassTogether is like together, for people of one class.
func (e *Entry) ofClassTogether(whom string) string {
	if e.Kind == method.ReleaseModels {
		return e.together(whom)
	}
	return "the difference of the two sums over that class is the sum over " + whom
}

// weightedTogether is like together, for people whose labels are numbers.
func (e *Entry) weightedTogether(whom string) string {
	if e.Kind == method.ReleaseModels {
		return e.together(whom)
	}
	return "the sums and their products with the label together give the weighted sum over " + whom
}

// someone is a person who is in one of two sums, and not in the other. The class or number is 0 if
// there is none.
type someone struct {
	who   [16]byte
	class uint16
}

// onlyHere lists the people who are in this entry, but not in the other one. It lists a person once
// for each class.
func (e *Entry) onlyHere(then *Entry) (list []someone) {
	common := make([]bool, len(e.Rows))
	meet(e.Rows, then.Rows, func(i int, _ Row) { common[i] = true })
	more := e.More
	for i := range e.Rows {
		row := &e.Rows[i]
		if !common[i] {
			list = append(list, someone{row.personDigest(), row.Class})
		}
		for len(more) > 0 && bytes.Compare(more[0].Person[:], row.Person[:]) <= 0 {
			if !common[i] && more[0].Person == row.Person {
				list = append(list, someone{row.personDigest(), more[0].Class})
			}
			more = more[1:]
		}
	}
	return list
}

// distinct returns the number of different people in the lists.
func distinct(lists ...[]someone) int {
	seen := make(map[[16]byte]bool)
	for _, list := range lists {
		for _, one := range list {
			seen[one.who] = true
		}
	}
	return len(seen)
}

// fewestOfAClass returns the number of people in the class with the fewest people; 0 without
// classes. For numbers it returns how many people do not have the most frequent number, because the
// sums of z and of (y-c)z are revealed for any c.
func fewestOfAClass(numbers bool, lists ...[]someone) int {
	of := make(map[uint16][]someone)
	for _, one := range slices.Concat(lists...) {
		if one.class != 0 {
			of[one.class] = append(of[one.class], one)
		}
	}
	fewest, most, commonest := 0, 0, uint16(0)
	for class, list := range of {
		n := distinct(list)
		if n > most || n == most && class < commonest {
			most, commonest = n, class
		}
		if fewest == 0 || n < fewest {
			fewest = n
		}
	}
	if !numbers {
		return fewest
	}
	delete(of, commonest)
	return distinct(slices.Collect(maps.Values(of))...)
}

// mayDifferInFit reports whether different fits may have prepared the common rows of two entries. A
// fit of this job counts as equal to the earlier entry's fit if the parties and the party's own
// rows are the same. Values are compared once they are known.
func (e *Entry) mayDifferInFit(earlier *Entry, m meeting) bool {
	switch e.Fit.By {
	case method.NoFit:
		return false
	case method.KeptFit, method.ToldFit:
		return !e.Fit.same(earlier.Fit)
	}
	known := earlier.Fit.By == method.NewFit && earlier.Fit.Among == e.Fit.Among || earlier.Fit.By == method.NoFit
	return !known || m.came+m.went+m.changed+m.relabelled > 0 || !slices.Equal(e.Peers, earlier.Peers)
}

// refits describes what two fits of the same rows reveal.
func refits(common int) string {
	rows := "the people of the edition are"
	if common != everybody {
		rows = count(common, "row is", "rows are")
	}
	return rows + ` prepared or scaled by another fit than in the earlier job, or may be: products of rows under two fits reveal their columns, and the two fits reveal who came or went. With "scale: range" and a dictionary whose columns have ranges, jobs fit nothing`
}

// revealsSplit describes what a job reveals if it chooses the held-out rows itself. The operator
// approves each such split separately.
func (e *Entry) revealsSplit() []string {
	if e.Split == "" {
		return nil
	}
	return []string{fmt.Sprintf("the job, not the party's key, chooses the held-out rows (%s): together with a job that holds out others, the difference of the two sums is the sum over these rows alone", e.Split)}
}

// revealsOtherSettings describes what two releases of the same rows with different settings reveal
// together.
func (e *Entry) revealsOtherSettings(earlier *Entry) []string {
	said := e.revealsPeers(earlier)
	if e.Kind == method.ReleaseIDs {
		return said
	}
	said = append(said, e.revealsColumns(earlier)...)
	if e.Scale != earlier.Scale && !e.Kind.Summed() && e.Kind != method.ReleaseFit {
		said = append(said, fmt.Sprintf("columns are scaled by %s, formerly by %s: the two %s together can reveal ranges that one does not", e.Scale, earlier.Scale, e.resultsNoun()))
	}
	if e.Label != earlier.Label && e.Kind == method.ReleaseRows && !e.inStudyOf(earlier) {
		said = append(said, fmt.Sprintf("the label is %s, formerly %s: the difference of the two matrices reveals the column that was not the label", column(e.Label), column(earlier.Label)))
	}
	if e.addsWeights(earlier) {
		said = append(said, fmt.Sprintf("the weight of the rows is %s, formerly %s: the coordinator learns these weights beside what it knows of the same rows", column(e.Weight), column(earlier.Weight)))
	}
	return said
}

func (e *Entry) revealsPeers(earlier *Entry) []string {
	if e.Kind == method.ReleaseRows {
		return nil
	}
	var said []string
	what := fmt.Sprintf("the difference of the two %s is the %s of their columns alone", e.resultsNoun(), e.resultNoun())
	switch e.Kind {
	case method.ReleaseSums:
		what = "the difference of the two sums is the sum over their rows alone, and three such sums reveal each party's own"
	case method.ReleaseFit:
		what = "the difference of the two fits is the fit over their rows alone"
	case method.ReleaseIDs:
		what = "the two intersections together reveal which people they have and others do not"
	}
	if list := exclude(e.Peers, earlier.Peers); len(list) > 0 {
		said = append(said, fmt.Sprintf("peers that did not take part then: %s; %s", strings.Join(list, ", "), what))
	}
	if list := exclude(earlier.Peers, e.Peers); len(list) > 0 {
		said = append(said, fmt.Sprintf("peers that took part then and do not now: %s; %s", strings.Join(list, ", "), what))
	}
	return said
}

func (e *Entry) revealsColumns(earlier *Entry) []string {
	if e.sameColumns(earlier) {
		return nil
	}
	if e.Columns == nil || earlier.Columns == nil {
		return []string{fmt.Sprintf("%s of the table, and %d in the earlier %s: %s",
			count(e.Width, "column", "columns"), earlier.Width, earlier.noun(), e.columnRisk(2))}
	}
	var said []string
	if list := exclude(e.Columns, earlier.Columns); len(list) > 0 {
		said = append(said, fmt.Sprintf("%s, in this %s and not in the earlier one: %s", columns(list), e.noun(), e.columnRisk(len(list))))
	}
	if list := exclude(earlier.Columns, e.Columns); len(list) > 0 {
		said = append(said, fmt.Sprintf("%s, in the earlier %s and not in this one: %s", columns(list), earlier.noun(), e.columnRisk(len(list))))
	}
	return said
}

// columnRisk describes what two releases reveal about the n columns that only one of them has.
func (e *Entry) columnRisk(n int) string {
	switch {
	case e.Kind == method.ReleaseSums:
		return "the ledger cannot find out from other columns who has changed since, and the two sums together may reveal it"
	case n == 1:
		return fmt.Sprintf("the difference of the two %s gives that column up to its sign", e.resultsNoun())
	}
	return fmt.Sprintf("the difference of the two %s is the %s of these columns alone", e.resultsNoun(), e.resultNoun())
}

// noun returns the word for the request that releases the rows: job or question.
func (e *Entry) noun() string {
	if e.Question {
		return "question"
	}
	return "job"
}

// resultNoun returns the noun for the result of a protocol: Gram matrix or set of distances.
func (e *Entry) resultNoun() string {
	if e.Kind == method.ReleasePhases {
		return "set of distances"
	}
	return "Gram matrix"
}

// resultsNoun returns the plural noun for the results of two releases.
func (e *Entry) resultsNoun() string {
	switch e.Kind {
	case method.ReleasePhases:
		return "sets of distances"
	case method.ReleaseSums:
		return "sums"
	case method.ReleaseModels:
		return "models"
	case method.ReleaseIDs:
		return "intersections"
	case method.ReleaseFit:
		return "fits"
	}
	return "matrices"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

const (
	maxListed = 8  // largest number of column names in a sentence
	maxQuoted = 80 // largest number of bytes of a column's name in a sentence
)

func column(name string) string {
	if name == "" {
		return "none"
	}
	return "column " + quote(name)
}

// quote returns a column's name in quotes. It shortens a long name.
func quote(name string) string {
	if len(name) > maxQuoted {
		name = strings.ToValidUTF8(name[:maxQuoted], "") + "..."
	}
	return fmt.Sprintf("%q", name)
}

func columns(list []string) string {
	if len(list) == 1 {
		return column(list[0])
	}
	return "columns " + humanize.List(list, maxListed, quote)
}

// exclude returns the elements of the list a that are not in the list b. b must be ascending.
func exclude(a, b []string) []string {
	var rest []string
	for _, s := range a {
		if _, in := slices.BinarySearch(b, s); !in {
			rest = append(rest, s)
		}
	}
	return rest
}

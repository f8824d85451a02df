package disclosure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/extsort"
	"github.com/mercer-fl/mercer/internal/method"
)

// maxSums bounds the sums over the same rows that a party discloses without approval. The operator must
// approve each further sum.
const maxSums = 20

// These bound the models over the same rows that a party opens without approval. A job counts when it begins to share,
// whether or not its model opens: a check that fails has told blurred sums, and a party that is no keeper cannot see
// how a session ended. The models together may have a quarter as many numbers as the rows have cells.
const (
	maxModels    = 3
	mostOfModels = 0.25
)

// comparison holds the state and the findings while a release is compared with all earlier
// releases.
type comparison struct {
	now    *Entry
	id     string
	space  extsort.Store   // holds sorted digests while the release is compared
	people persons         // people of the release's edition; nil before they are needed
	heads  []head          // earlier releases of the same kind
	others []head          // earlier releases of other kinds, without those of noise
	models map[string]bool // jobs that released the same rows; see findModels
	known  []bool          // for each row: whether an earlier release disclosed the same values; nil before loadRows
	said   []string
	from   []string // IDs of the earlier releases that reveal something together with this one
	with   []head   // the releases of from, and the releases that count towards a limit that this one exceeds
}

// head is an entry without its rows, with the path of the file that has the rows.
type head struct {
	*Entry
	id   string
	file string
}

func (h head) released() bool { return strings.HasSuffix(h.file, string(Released)) }

// compare finds what a release reveals together with earlier releases. A release that was disclosed
// before reveals nothing new; compare only compares its fit and counts its uses.
func (l Ledger) compare(now *Entry, id string, space extsort.Store) (*comparison, error) {
	c := &comparison{now: now, id: id, space: space}
	all, err := l.heads()
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		switch h.Kind {
		case now.Kind:
			c.heads = append(c.heads, h)
		case method.ReleaseNoise: // a difference from noise tells no more about a person than the noise's cost allows
		default:
			c.others = append(c.others, h)
		}
	}
	c.findModels()
	if !c.repeats() {
		if now.Study == "" {
			c.said = now.revealsSplit()
		}
		err = errors.Join(l.differences(c), l.compareSchemas(c), l.ownFits(c), l.compareKinds(c), l.compareSummed(c))
	}
	if err == nil && (now.Fit.By == method.NewFit || now.Fit.By == method.ToldFit) && now.Fit.Values != "" {
		err = l.compareFits(c)
	}
	if err == nil && now.Kind.Summed() {
		err = l.countSums(c)
	}
	return c, err
}

// findModels collects the jobs that released the same rows as the release under comparison. A job
// that trains again on the same rows has another id, but questions about either job's model concern
// the same kernel.
func (c *comparison) findModels() {
	c.models = make(map[string]bool)
	for _, u := range c.now.Uses {
		c.models[u.Model] = true
	}
	for _, h := range c.heads {
		if slices.ContainsFunc(c.now.Uses, func(u Use) bool { return h.usedBy(u.Model) }) {
			for _, u := range h.Uses {
				c.models[u.Model] = true
			}
		}
	}
}

func (c *comparison) oneModel(h head) bool {
	return slices.ContainsFunc(h.Uses, func(u Use) bool { return c.models[u.Model] })
}

// repeats reports whether an identical release was disclosed before. An identical release does not
// count if only its fit was disclosed. It also does not count if only jobs of a study disclosed it and
// this release is outside the study, because the operator has approved the study for its own jobs alone.
func (c *comparison) repeats() bool {
	return slices.ContainsFunc(c.heads, func(h head) bool {
		return h.id == c.id && h.released() && !h.pending() && h.covers(c.now)
	})
}

// differences compares the release with all earlier releases of the same kind. It begins with the
// earlier releases that have equal settings. The rows that these have disclosed are known already,
// so only the other rows are compared with releases that have other settings.
func (l Ledger) differences(c *comparison) error {
	slices.SortStableFunc(c.heads, func(a, b head) int { return c.distance(a.Entry) - c.distance(b.Entry) })
	for _, h := range c.heads {
		switch {
		case h.id == c.id: // an identical release reveals nothing new
			continue
		case c.now.editionsOfOneTable(h.Entry):
			c.compareEditions(h)
			continue
		case c.now.otherTable(h.Entry):
			if err := l.compareTables(c, h); err != nil {
				return err
			}
			continue
		case h.Edition != "":
			c.note(h, []string{unlisted})
			continue
		}
		earlier, err := l.read(h.file)
		if err != nil {
			return err
		}
		if err := c.loadRows(); err != nil {
			return err
		}
		d := c.distance(h.Entry)
		switch {
		case d == otherSettings && c.now.Kind != method.ReleaseModels && c.meetsNew(earlier):
			c.note(h, c.now.revealsOtherSettings(earlier))
		case d == otherSettings && c.now.Kind.Summed(): // no row is new, but the two sums may differ by few people
			c.note(h, c.now.revealsFew(earlier, c.now.meet(earlier)))
		case d == equalSettings, d == otherFit && (c.now.Fit.By == method.NewFit || c.meetsNew(earlier)):
			c.note(h, c.now.revealsSameSettings(earlier, c.oneModel(h)))
		}
		if d != otherSettings && (c.now.Question || !earlier.Question) && h.covers(c.now) { // rows that only a question disclosed are still new to a job, and rows of a study to a job outside
			meet(c.now.Rows, earlier.Rows, func(i int, then Row) {
				now := c.now.Rows[i]
				c.known[i] = c.known[i] || now.Content == then.Content && !c.now.relabels(now, earlier, then) && !c.now.reweighs(now, earlier, then)
			})
		}
	}
	return nil
}

// These constants grade how far a release is from an earlier one.
const (
	equalSettings = iota // the settings are equal, and the fits are equal or irrelevant
	otherFit             // the settings are equal, but different fits may have prepared the rows
	otherSettings        // columns, scale, label or peers differ, or the release adds weights
)

func (c *comparison) distance(earlier *Entry) int {
	switch {
	case !c.now.sameSettings(earlier) || c.now.addsWeights(earlier):
		return otherSettings
	case c.now.Question || earlier.Question || c.now.Kind == method.ReleaseFit: // fits are irrelevant: a question uses its model's fit, and no fit prepares a fit
		return equalSettings
	case !c.now.Fit.same(earlier.Fit):
		return otherFit
	}
	return equalSettings
}

// compareSchemas compares the release with earlier releases of the same table or people that used
// another schema. Otherwise jobs could vary which rows take part and how cells are read. After
// releases under both schemas of a table, later releases under either schema pass.
func (l Ledger) compareSchemas(c *comparison) error {
	all := slices.Concat(c.heads, c.others)
	both := slices.ContainsFunc(all, func(h head) bool { // an earlier release had this table and schema, so the operator knows both schemas
		return h.Kind == c.now.Kind && h.Table != "" && h.Table == c.now.Table && h.Schema == c.now.Schema && h.released()
	})
	for _, h := range all {
		if h.Schema == c.now.Schema || both && h.Table == c.now.Table {
			continue
		}
		same := h.Table != "" && h.Table == c.now.Table
		if !same {
			n, err := l.commonPeople(c, h)
			if err != nil {
				return err
			}
			same = n != 0
		}
		if same {
			c.note(h, []string{"the job's schema or views differ from those of an earlier job: the two releases can use other rows, read cells differently or reveal products of other columns, and together they reveal for whom"})
		}
	}
	return nil
}

// compareKinds compares encoded rows with earlier sums or models over the same people, or these with
// earlier encoded rows. Encoded rows are known up to a rotation, and sums or weights in the columns' own
// directions reveal the rotation.
func (l Ledger) compareKinds(c *comparison) error {
	var both []bool // for each row of the release: whether an earlier release of the other kind contains the row's person
	var with []head
	for _, h := range c.others {
		rotated := c.now.Kind == method.ReleaseRows && h.Kind.Summed() || c.now.Kind.Summed() && h.Kind == method.ReleaseRows
		if !rotated || c.now.inStudyOf(h.Entry) {
			continue
		}
		if !c.now.byRows(h.Entry) {
			if err := l.kindsOfEditions(c, h); err != nil {
				return err
			}
			continue
		}
		earlier, err := l.read(h.file)
		if err != nil {
			return err
		}
		if err := c.loadRows(); err != nil {
			return err
		}
		if both == nil {
			both = make([]bool, len(c.now.Rows))
		}
		if markCommon(c.now.Rows, earlier.Rows, both) {
			with = append(with, h)
		}
	}
	n := 0
	for _, in := range both {
		if in {
			n++
		}
	}
	for _, h := range with {
		c.note(h, []string{count(n, "person would be", "people would be") + c.bothTell(h)})
	}
	return nil
}

// bothTell ends a sentence about people who are both in sums or a model and among encoded rows.
func (c *comparison) bothTell(h head) string {
	if method.ReleaseModels == c.now.Kind || method.ReleaseModels == h.Kind {
		return " both in a model and among encoded rows: from the weights, who receives the encoded rows can compute their rotation, and so every cell"
	}
	return " both in sums and among encoded rows: the sums reveal the rotation of the encoded rows, and so every cell"
}

// kindsOfEditions does the work of [Ledger.compareKinds] for an earlier release that cannot be
// compared row by row.
func (l Ledger) kindsOfEditions(c *comparison, h head) error {
	n, err := l.commonPeople(c, h)
	if n != 0 {
		c.note(h, []string{"the people of the edition would be" + c.bothTell(h)})
	}
	return err
}

// ownFits compares a dictionary's fit with rows that earlier jobs prepared by fits of their own.
// Those jobs ran under older versions of this program.
func (l Ledger) ownFits(c *comparison) error {
	if c.now.Kind != method.ReleaseFit {
		return nil
	}
	for _, h := range c.others {
		if h.Fit.By != method.NewFit || h.Schema != c.now.Schema || h.Fit.Among == c.now.Fit.Among {
			continue
		}
		n, err := l.commonPeople(c, h)
		if err != nil {
			return err
		}
		if n != 0 {
			c.note(h, []string{refits(n)})
		}
	}
	return nil
}

// markCommon sets marks[i] to true for each element rows[i] whose person is also in oldRows. It
// reports whether there is such a row.
func markCommon(rows, oldRows []Row, marks []bool) (any bool) {
	meet(rows, oldRows, func(i int, _ Row) { marks[i], any = true, true })
	return any
}

// compareFits compares the release with earlier releases of the same people that used another fit.
// It compares the fitted values, which are unknown until the job's parties have fitted.
func (l Ledger) compareFits(c *comparison) error {
	if slices.ContainsFunc(c.heads, func(h head) bool { return h.id == c.id && h.Fit.Values == c.now.Fit.Values }) {
		return nil // the ledger already has this release with this fit
	}
	for _, h := range c.heads {
		if !c.now.sameSettings(h.Entry) || h.Question || h.Fit.Values == "" || h.Fit.Values == c.now.Fit.Values {
			continue
		}
		n, err := l.commonPeople(c, h)
		if err != nil {
			return err
		}
		if n != 0 {
			c.note(h, []string{refits(n)})
		}
	}
	return nil
}

// meetsNew reports whether the release has a new row of a person in the earlier entry. A row is new
// if no earlier release has disclosed the row with the same values.
func (c *comparison) meetsNew(earlier *Entry) (found bool) {
	meet(c.now.Rows, earlier.Rows, func(i int, _ Row) { found = found || !c.known[i] })
	return found
}

func (c *comparison) note(h head, said []string) {
	if len(said) == 0 {
		return
	}
	for _, s := range said {
		if !slices.Contains(c.said, s) {
			c.said = append(c.said, s)
		}
	}
	c.remember(h)
	if !slices.Contains(c.from, h.id) {
		c.from = append(c.from, h.id)
	}
}

// inStudyOf reports whether two releases are of jobs inside the same study. The operator has approved the
// study's protocols, labels and splits, the number of its jobs, and how many numbers their sums have.
// Columns, scaling, fits, weights, and people who came or left are compared as for jobs outside a study.
func (e *Entry) inStudyOf(o *Entry) bool { return e.Study != "" && e.Study == o.Study }

// covers reports whether release o, which has equal content, is allowed because entry e was. An entry of
// a study allows only releases of the same study.
func (e *Entry) covers(o *Entry) bool { return e.Study == "" || e.inStudyOf(o) }

// allowedBy reports whether approval n covers everything that the comparison found. It must contain
// each sentence and each earlier release, because the operator has seen no others.
func (c *comparison) allowedBy(n Listed) bool {
	within := func(list, shown []string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(shown, s) })
	}
	return within(shortened(c.said), n.Reveals) && within(c.from, n.From)
}

// goesOn reports whether the release was already disclosed for the same job, by an earlier step or
// before a crash.
func (c *comparison) goesOn() bool {
	return c.now.Uses != nil && slices.ContainsFunc(c.heads, func(h head) bool {
		return h.id == c.id && h.released() && h.usedBy(c.now.Uses[0].Model)
	})
}

// summed counts the sums that include one person. The field told is the sum of their shares (see
// [Entry.Told]).
type summed struct {
	sums int
	told float64
}

// countSums adds a sentence to the findings if people would be in too many sums or models, or in ones
// with too many numbers.
func (l Ledger) countSums(c *comparison) error {
	if c.goesOn() {
		return nil
	}
	var one []summed // one count for each listed row
	var all summed   // counts for earlier releases that are not compared row by row
	var counted []head
	for _, h := range c.heads {
		if c.now.inStudyOf(h.Entry) {
			continue // the study bounds its own jobs and numbers
		}
		if c.now.byRows(h.Entry) && one == nil {
			if err := c.loadRows(); err != nil {
				return err
			}
			one = make([]summed, len(c.now.Rows))
		}
		met, err := l.countUses(c, h, one, &all)
		if err != nil {
			return err
		}
		if met {
			counted = append(counted, h)
		}
	}
	most := summed{}
	for _, p := range append(one, summed{}) {
		most = summed{max(most.sums, p.sums+all.sums), max(most.told, p.told+all.told)}
	}
	said := c.now.revealsCount(most, all.sums > 0)
	if len(said) > 0 {
		c.said = append(c.said, said...)
		for _, h := range counted {
			c.remember(h)
		}
	}
	return nil
}

// revealsCount describes the risk if people have been in too many sums or models, or in ones with too many numbers.
// The people who have been in most may be unknown: then somebody of the table may be one.
func (e *Entry) revealsCount(most summed, unknown bool) (said []string) {
	limit, share, what := maxSums, 1., "sums"
	if e.Kind == method.ReleaseModels {
		limit, share, what = maxModels, mostOfModels, "models"
	}
	if most.sums >= limit {
		which := "some of the rows have"
		if unknown {
			which = "some people of this table may have"
		}
		one := strings.TrimSuffix(what, "s")
		if e.Kind == method.ReleaseModels {
			what += ", or attempts at one"
		}
		said = append(said, fmt.Sprintf("%s been in %d %s, and each further %s reveals more about single rows", which, most.sums, what, one))
	}
	if told := most.told + e.Told(); told > share && most.told > 0 {
		said = append(said, fmt.Sprintf("with this job, the %s over some of the rows have %.0f %% as many numbers as these rows have cells, and %.0f %% without it: from so many numbers rows can be computed", e.resultsNoun(), 100*told, 100*most.told))
	}
	return said
}

// countUses adds the uses of an earlier release to the counts of the people in both releases. If
// the people in both are not known, it adds the uses to the counts of everybody.
func (l Ledger) countUses(c *comparison, h head, one []summed, all *summed) (met bool, err error) {
	uses := h.Uses
	if c.now.Uses != nil { // skip this job's own use, which an earlier admission may have recorded
		uses = slices.DeleteFunc(slices.Clone(uses), func(u Use) bool { return u.Model == c.now.Uses[0].Model })
	}
	told := (&Entry{Uses: uses}).Told()
	if !c.now.byRows(h.Entry) {
		n, err := l.commonPeople(c, h)
		if n != 0 {
			all.sums, all.told = all.sums+len(uses), all.told+told
		}
		return n != 0, err
	}
	earlier, err := l.read(h.file)
	if err != nil {
		return false, err
	}
	meet(c.now.Rows, earlier.Rows, func(i int, _ Row) {
		one[i].sums, one[i].told, met = one[i].sums+len(uses), one[i].told+told, true
	})
	return met, nil
}

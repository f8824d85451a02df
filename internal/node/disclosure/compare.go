package disclosure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/method"
)

// maxSums is the number of sums over the same rows that need no approval. After that many, the
// operator must approve each further sum.
const maxSums = 20

// comparison holds the state and the findings while a release is compared with all earlier
// releases.
type comparison struct {
	now    *Entry
	id     string
	heads  []head // earlier releases of the same kind
	others []head // earlier releases of other kinds
	models map[string]bool
	known  []bool // rows that were released before with the same values; nil before the rows are listed
	said   []string
	jobs   []string // jobs of the earlier releases that the release differs from
	from   []string // IDs of these earlier releases
}

// head is an entry without its rows, with the path of the file that has the rows.
type head struct {
	*Entry
	id   string
	file string
}

func (h head) released() bool { return strings.HasSuffix(h.file, string(Released)) }

// compare returns what a release reveals together with earlier releases, and the jobs of these
// releases. A release that was disclosed before reveals nothing new.
func (l Ledger) compare(now *Entry, id string) (*comparison, error) {
	c := &comparison{now: now, id: id}
	all, err := l.heads()
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if h.Kind == now.Kind {
			c.heads = append(c.heads, h)
		} else {
			c.others = append(c.others, h)
		}
	}
	c.findModels()
	if !c.repeats() {
		c.said = now.revealsSplit()
		err = errors.Join(l.differences(c), l.compareSchemas(c), l.ownFits(c), l.compareKinds(c))
	}
	if err == nil && (now.Fit.By == method.NewFit || now.Fit.By == method.ToldFit) && now.Fit.Values != "" {
		err = l.compareFits(c)
	}
	if err == nil && now.Kind == method.ReleaseSums {
		err = l.countSums(c)
	}
	return c, err
}

// findModels collects the jobs that released the same rows as the release under comparison. A job
// that trains again on the same rows has another id, and its questions are about the same kernel.
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

// repeats reports whether an identical release was disclosed before. If only the fit of that
// release was disclosed, it does not count.
func (c *comparison) repeats() bool {
	return slices.ContainsFunc(c.heads, func(h head) bool { return h.id == c.id && h.released() && !h.pending() })
}

// differences compares the release with earlier releases of its kind, starting with those that
// released an equal part of each row. A row that such a release disclosed is known, so only the
// other rows are compared with releases that disclosed something else.
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
		c.loadRows()
		d := c.distance(h.Entry)
		switch {
		case d == otherPart && c.meetsNew(earlier):
			c.note(h, c.now.revealsOtherPart(earlier))
		case d == otherPart && c.now.Kind == method.ReleaseSums: // the values of each row are known, but not a sum over few rows
			c.note(h, c.now.revealsFew(earlier, c.now.meet(earlier)))
		case d == equalPart, d == otherFit && (c.now.Fit.By == method.NewFit || c.meetsNew(earlier)):
			c.note(h, c.now.revealsSamePart(earlier, c.oneModel(h)))
		}
		if d != otherPart && (c.now.Question || !earlier.Question) { // a question reveals less than a job, so it does not make the rows of a job known
			meet(c.now.Rows, earlier.Rows, func(i int, then Row) {
				now := c.now.Rows[i]
				c.known[i] = c.known[i] || now.Content == then.Content && !c.now.relabels(now, earlier, then)
			})
		}
	}
	return nil
}

// These constants grade how far a release is from an earlier one.
const (
	equalPart = iota // both releases disclose an equal part of each row
	otherFit         // both disclose an equal part of each row, prepared by different fits
	otherPart
)

func (c *comparison) distance(earlier *Entry) int {
	switch {
	case !c.now.samePart(earlier):
		return otherPart
	case c.now.Question || earlier.Question || c.now.Kind == method.ReleaseFit: // a question uses the model's fit, and a fit is not prepared by another
		return equalPart
	case !c.now.Fit.same(earlier.Fit):
		return otherFit
	}
	return equalPart
}

// schemas compares the release with releases of the same table or people under another schema. Jobs
// must not vary which rows take part and how their cells are read. Once both schemas of a table
// have been released, later releases under either schema pass.
func (l Ledger) compareSchemas(c *comparison) error {
	all := slices.Concat(c.heads, c.others)
	both := slices.ContainsFunc(all, func(h head) bool { // if both schemas were released, the operator has approved the second
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

// kinds compares the release with releases of the other kind that would, together with it, reveal
// single rows. Encoded rows are known up to a rotation, and sums in the columns' own directions
// reveal the rotation.
func (l Ledger) compareKinds(c *comparison) error {
	var both []bool // whether each of the release's people is in both kinds, if its rows are listed
	var with []head
	for _, h := range c.others {
		pair := []method.ReleaseKind{c.now.Kind, h.Kind}
		if !slices.Contains(pair, method.ReleaseRows) || !slices.Contains(pair, method.ReleaseSums) {
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
		c.loadRows()
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
		c.note(h, []string{count(n, "person would be", "people would be") + bothTell})
	}
	return nil
}

// bothTell ends a sentence about people who are in sums and among encoded rows.
const bothTell = " both in sums and among encoded rows: the sums reveal the rotation of the encoded rows, and so every cell"

// kindsOfEditions does the work of kinds for two releases that cannot be compared row by row.
func (l Ledger) kindsOfEditions(c *comparison, h head) error {
	n, err := l.commonPeople(c, h)
	if n != 0 {
		c.note(h, []string{"the people of the edition would be" + bothTell})
	}
	return err
}

// ownFits compares the fit of a dictionary with rows that jobs of earlier programs prepared by
// their own fits.
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

// meets marks the rows of people who are also in an earlier entry, and reports whether it marked
// any.
func markCommon(now, then []Row, in []bool) (any bool) {
	meet(now, then, func(i int, _ Row) { in[i], any = true, true })
	return any
}

// fits compares the release with earlier releases of the same people whose fit has other values.
// The values are unknown until the job's parties have fitted.
func (l Ledger) compareFits(c *comparison) error {
	if slices.ContainsFunc(c.heads, func(h head) bool { return h.id == c.id && h.Fit.Values == c.now.Fit.Values }) {
		return nil // a release with this fit is already disclosed
	}
	for _, h := range c.heads {
		if !c.now.samePart(h.Entry) || h.Question || h.Fit.Values == "" || h.Fit.Values == c.now.Fit.Values {
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

// meetsNew reports whether an earlier entry contains a row that is still new. A row is new if no
// earlier release has disclosed the same values of it.
func (c *comparison) meetsNew(earlier *Entry) (found bool) {
	meet(c.now.Rows, earlier.Rows, func(i int, _ Row) { found = found || !c.known[i] })
	return found
}

func (c *comparison) note(h head, said []string) {
	for _, s := range said {
		if !slices.Contains(c.said, s) {
			c.said = append(c.said, s)
		}
	}
	if len(said) > 0 && !slices.Contains(c.jobs, h.Job) {
		c.jobs = append(c.jobs, h.Job)
	}
	if len(said) > 0 && !slices.Contains(c.from, h.id) {
		c.from = append(c.from, h.id)
	}
}

// allowedBy reports whether approval n covers each sentence about the release and each earlier
// release in the comparison. The operator has not seen later sentences and releases.
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

// summed counts the sums that include a person, and the numbers in these sums for each cell of the
// rows.
type summed struct {
	sums int
	told float64
}

// countSums reports a release if people would be in too many sums, or in sums with too many
// numbers.
func (l Ledger) countSums(c *comparison) error {
	if c.goesOn() {
		return nil
	}
	var one []summed // one count for each listed row
	var all summed   // counts that apply to all people of the release
	var jobs []string
	for _, h := range c.heads {
		if c.now.byRows(h.Entry) && one == nil {
			c.loadRows()
			one = make([]summed, len(c.now.Rows))
		}
		met, err := l.countUses(c, h, one, &all)
		if err != nil {
			return err
		}
		if met && !slices.Contains(jobs, h.Job) {
			jobs = append(jobs, h.Job)
		}
	}
	most := summed{}
	for _, p := range append(one, summed{}) {
		most = summed{max(most.sums, p.sums+all.sums), max(most.told, p.told+all.told)}
	}
	var said []string
	if most.sums >= maxSums {
		which := "some of the rows have"
		if all.sums > 0 {
			which = "some people of this table may have"
		}
		said = append(said, fmt.Sprintf("%s been in %d sums, and each further sum reveals more about single rows", which, most.sums))
	}
	if told := most.told + c.now.Told(); told > 1 && most.told > 0 {
		said = append(said, fmt.Sprintf("with this job, the sums over some of the rows have %.0f %% as many numbers as these rows have cells, and %.0f %% without it: from so many numbers rows can be computed", 100*told, 100*most.told))
	}
	if len(said) > 0 {
		c.said = append(c.said, said...)
		c.jobs = append(c.jobs, exclude(jobs, slices.Sorted(slices.Values(c.jobs)))...)
	}
	return nil
}

// countUses adds the uses of an earlier release to the counts of the people in both releases. If
// the people in both are not known, it adds them to the counts of everybody.
func (l Ledger) countUses(c *comparison, h head, one []summed, all *summed) (met bool, err error) {
	uses := h.Uses
	if c.now.Uses != nil { // this job's own use may be there from an earlier admission
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

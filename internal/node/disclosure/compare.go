package disclosure

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/method"
)

// maxSums bounds how often a row set goes into sums before the operator is asked.
const maxSums = 20

// comparison is of a release with all earlier ones.
type comparison struct {
	now    *Entry
	id     string
	heads  []head // of the earlier ones of its kind
	others []head // of the earlier ones of other kinds
	models map[string]bool
	known  []bool // rows of which the same has been let out before; nil before they are listed
	said   []string
	jobs   []string // of the earlier releases that it differs from
	from   []string // the IDs of these
}

// head is an entry without its rows, and where they are.
type head struct {
	*Entry
	id   string
	file string
}

func (h head) released() bool { return strings.HasSuffix(h.file, string(Released)) }

// compare returns what a release would tell together with earlier ones, and the jobs of
// these. A release that has been let out before tells nothing new.
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
		c.said = now.chosen()
		err = errors.Join(l.differences(c), l.schemas(c), l.ownFits(c), l.kinds(c))
	}
	if err == nil && (now.Fit.By == method.NewFit || now.Fit.By == method.ToldFit) && now.Fit.Values != "" {
		err = l.fits(c)
	}
	if err == nil && now.Kind == method.ReleaseSums {
		err = l.countSums(c)
	}
	return c, err
}

// findModels collects the jobs whose models are of the same rows as the release's: who
// trains again from the same rows has another job and asks about the same kernel.
func (c *comparison) findModels() {
	c.models = make(map[string]bool)
	for _, u := range c.now.Uses {
		c.models[u.Model] = true
	}
	for _, h := range c.heads {
		if slices.ContainsFunc(c.now.Uses, func(u Use) bool { return h.used(u.Model) }) {
			for _, u := range h.Uses {
				c.models[u.Model] = true
			}
		}
	}
}

func (c *comparison) oneModel(h head) bool {
	return slices.ContainsFunc(h.Uses, func(u Use) bool { return c.models[u.Model] })
}

// repeats reports whether an identical release is out. One of which the fit alone is out is not.
func (c *comparison) repeats() bool {
	return slices.ContainsFunc(c.heads, func(h head) bool { return h.id == c.id && h.released() && !h.pending() })
}

// differences looks first at releases that let out an equal part of each row. What they have
// told of a row, the release tells again, so that only its other rows are compared with
// releases that let out something else.
func (l Ledger) differences(c *comparison) error {
	slices.SortStableFunc(c.heads, func(a, b head) int { return c.distance(a.Entry) - c.distance(b.Entry) })
	for _, h := range c.heads {
		switch {
		case h.id == c.id: // an equal release, which tells nothing beside it
			continue
		case c.now.named(h.Entry):
			c.difference(h)
			continue
		case c.now.apart(h.Entry):
			if err := l.elsewhere(c, h); err != nil {
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
		c.list()
		d := c.distance(h.Entry)
		switch {
		case d == otherPart && c.meetsNew(earlier):
			c.note(h, c.now.against(earlier))
		case d == otherPart && c.now.Kind == method.ReleaseSums: // each row is known, and the sum over few of them may not be
			c.note(h, c.now.few(earlier, c.now.meet(earlier)))
		case d == equalPart, d == otherFit && (c.now.Fit.By == method.NewFit || c.meetsNew(earlier)):
			c.note(h, c.now.beside(earlier, c.oneModel(h)))
		}
		if d != otherPart && (c.now.Question || !earlier.Question) { // a question tells less than a job
			meet(c.now.Rows, earlier.Rows, func(i int, then Row) {
				now := c.now.Rows[i]
				c.known[i] = c.known[i] || now.Content == then.Content && !c.now.relabels(now, earlier, then)
			})
		}
	}
	return nil
}

// How far a release is from an earlier one.
const (
	equalPart = iota // it lets out an equal part of each row
	otherFit         // an equal part, of rows that another fit has prepared
	otherPart
)

func (c *comparison) distance(earlier *Entry) int {
	switch {
	case !c.now.like(earlier):
		return otherPart
	case c.now.Question || earlier.Question || c.now.Kind == method.ReleaseFit: // by the fit of the model; a fit itself
		return equalPart
	case !c.now.Fit.same(earlier.Fit):
		return otherFit
	}
	return equalPart
}

// schemas looks at releases of the same table, or of the same people, that another schema had
// read: which rows take part, and how their cells are read, is not the job's to vary. Schemas that
// have been let out of one table pass from then on.
func (l Ledger) schemas(c *comparison) error {
	all := slices.Concat(c.heads, c.others)
	both := slices.ContainsFunc(all, func(h head) bool { // the second of them has been approved
		return h.Kind == c.now.Kind && h.Table != "" && h.Table == c.now.Table && h.Schema == c.now.Schema && h.released()
	})
	for _, h := range all {
		if h.Schema == c.now.Schema || both && h.Table == c.now.Table {
			continue
		}
		same := h.Table != "" && h.Table == c.now.Table
		if !same {
			n, err := l.common(c, h)
			if err != nil {
				return err
			}
			same = n != 0
		}
		if same {
			c.note(h, []string{"the job's schema is another than the earlier one's, or its views are: which rows take part, how their cells are read, or of which columns products are told, can differ, and both releases together tell of whom"})
		}
	}
	return nil
}

// kinds looks at releases of other kinds that tell single rows together with this one: rows up to a
// rotation, and sums in the columns' own directions, which give the rotation.
func (l Ledger) kinds(c *comparison) error {
	var both []bool // people of the release, if its rows are listed
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
		c.list()
		if both == nil {
			both = make([]bool, len(c.now.Rows))
		}
		if meets(c.now.Rows, earlier.Rows, both) {
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

// bothTell ends a sentence about people in sums and among encoded rows.
const bothTell = " both in sums and among encoded rows: the sums tell by which rotation the rows are encoded, and so every cell"

// kindsOfEditions is kinds of two releases that are not compared row by row.
func (l Ledger) kindsOfEditions(c *comparison, h head) error {
	n, err := l.common(c, h)
	if n != 0 {
		c.note(h, []string{"the people of the edition would be" + bothTell})
	}
	return err
}

// ownFits looks at rows that jobs of earlier programs have prepared by a fit of their own, beside the one fit
// of their dictionary.
func (l Ledger) ownFits(c *comparison) error {
	if c.now.Kind != method.ReleaseFit {
		return nil
	}
	for _, h := range c.others {
		if h.Fit.By != method.NewFit || h.Schema != c.now.Schema || h.Fit.Among == c.now.Fit.Among {
			continue
		}
		n, err := l.common(c, h)
		if err != nil {
			return err
		}
		if n != 0 {
			c.note(h, []string{refits(n)})
		}
	}
	return nil
}

// meets marks the rows of people who are also in an earlier entry, and reports whether there are any.
func meets(now, then []Row, in []bool) (any bool) {
	meet(now, then, func(i int, _ Row) { in[i], any = true, true })
	return any
}

// fits looks at releases of the same people by other values of a fit, of which nothing was known
// before the job's parties had fitted.
func (l Ledger) fits(c *comparison) error {
	if slices.ContainsFunc(c.heads, func(h head) bool { return h.id == c.id && h.Fit.Values == c.now.Fit.Values }) {
		return nil // they are out
	}
	for _, h := range c.heads {
		if !c.now.like(h.Entry) || h.Question || h.Fit.Values == "" || h.Fit.Values == c.now.Fit.Values {
			continue
		}
		n, err := l.common(c, h)
		if err != nil {
			return err
		}
		if n != 0 {
			c.note(h, []string{refits(n)})
		}
	}
	return nil
}

// meetsNew reports whether an entry has a row of which not all is known.
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

// allowedBy reports whether the operator has approved all that the release would tell: each sentence,
// and beside each earlier release. What came later was not shown.
func (c *comparison) allowedBy(n Listed) bool {
	within := func(list, shown []string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(shown, s) })
	}
	return within(shortened(c.said), n.Reveals) && within(c.from, n.From)
}

// goesOn reports whether the release has been let out for the same job already: by a step before, or
// before a crash.
func (c *comparison) goesOn() bool {
	return c.now.Uses != nil && slices.ContainsFunc(c.heads, func(h head) bool {
		return h.id == c.id && h.released() && h.used(c.now.Uses[0].Model)
	})
}

// summed counts the sums in which a person has been, and the numbers told in them for each cell.
type summed struct {
	sums int
	told float64
}

// countSums counts in how many sums people have been, and how much these tell.
func (l Ledger) countSums(c *comparison) error {
	if c.goesOn() {
		return nil
	}
	var one []summed // people whose rows are listed
	var all summed   // everybody
	var jobs []string
	for _, h := range c.heads {
		if c.now.byRows(h.Entry) && one == nil {
			c.list()
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
		said = append(said, fmt.Sprintf("%s been in %d sums, and each further one tells more of single rows", which, most.sums))
	}
	if told := most.told + c.now.Told(); told > 1 && most.told > 0 {
		said = append(said, fmt.Sprintf("with this job there are %.0f %% as many numbers in sums over some of the rows as these have cells, and %.0f %% without it: from so many numbers rows can be computed", 100*told, 100*most.told))
	}
	if len(said) > 0 {
		c.said = append(c.said, said...)
		c.jobs = append(c.jobs, without(jobs, slices.Sorted(slices.Values(c.jobs)))...)
	}
	return nil
}

// countUses adds an earlier release's uses to those of the people whom it shares, or to those of everybody.
func (l Ledger) countUses(c *comparison, h head, one []summed, all *summed) (met bool, err error) {
	uses := h.Uses
	if c.now.Uses != nil { // it may have been admitted before
		uses = slices.DeleteFunc(slices.Clone(uses), func(u Use) bool { return u.Model == c.now.Uses[0].Model })
	}
	told := (&Entry{Uses: uses}).Told()
	if !c.now.byRows(h.Entry) {
		n, err := l.common(c, h)
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

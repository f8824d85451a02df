package edition

import "slices"

// tally counts the people who have surely changed and the people who may have changed. For a person
// with several rows it is unknown to which row a cell or a label belongs.
type tally struct{ sure, possible int }

func (t *tally) add(sure bool, n int) {
	t.possible += n
	if sure {
		t.sure += n
	}
}

// few reports whether the change may concern at least one person but fewer than [Least].
func (t tally) few() bool { return t.possible > 0 && t.sure < Least }

// tallies holds one tally for each key. A key is a class, a number, or a pair of classes.
type tallies[K comparable] struct {
	of       map[K]tally
	overflow bool // true once more than mostClasses keys were counted
}

// mostClasses is the largest number of keys for which tallies count people.
const mostClasses = 1 << 14

// add adds n people to the tally of v, and removes the tally if it becomes zero.
func (c *tallies[K]) add(v K, sure bool, n int) {
	if c.overflow {
		return
	}
	if c.of == nil {
		c.of = make(map[K]tally)
	}
	t := c.of[v]
	if t.add(sure, n); t == (tally{}) {
		delete(c.of, v)
		return
	}
	if c.of[v] = t; len(c.of) > mostClasses {
		c.of, c.overflow = nil, true
	}
}

// few reports whether any of the tallies may concern only few people. It is true after an overflow.
func (c *tallies[K]) few() bool {
	for _, t := range c.of {
		if t.few() {
			return true
		}
	}
	return c.overflow
}

// fewOthers reports whether only few people may have a number that is not the most frequent one. A
// person with several numbers counts as possible in each, and so among the others. It is true after an
// overflow.
func (c *tallies[K]) fewOthers() bool {
	var total, most tally
	for _, t := range c.of {
		total.sure, total.possible = total.sure+t.sure, total.possible+t.possible
		most.sure, most.possible = max(most.sure, t.sure), max(most.possible, t.possible)
	}
	return c.overflow || tally{total.sure - most.sure, total.possible - most.possible}.few()
}

// difference counts how the people of two editions differ.
type difference struct {
	*past
	came, went tally
	changed    []tally // one tally for each column
	of         []ofLabel
}

// ofLabel counts how people of two editions differ in one label. If sums weight the classes, the
// sums of the two editions differ by whole groups of people: by all who came in a class, by all who
// left from a class, or by all who moved between two classes with different weights.
type ofLabel struct {
	changed    tally              // people whose label differs between the editions
	single     tally              // like changed, but a person with several rows counts only as possible
	came, went tallies[uint64]    // one tally for each class
	moved      tallies[[2]uint64] // one tally for each pair of a former class and a new class
	within     []tallies[uint64]  // for each column: people whose cells have changed, by their new class
}

func newDifference(p *past) *difference {
	d := &difference{past: p, changed: make([]tally, len(p.columns)), of: make([]ofLabel, len(p.labels))}
	for l := range d.of {
		d.of[l].within = make([]tallies[uint64], len(p.columns))
	}
	return d
}

// count adds n to the tally of each change between a person's two states. A negative n removes
// changes that were counted before.
func (d *difference) count(now, then *Person, n int) {
	switch {
	case now.in() && !then.in():
		d.came.add(true, n)
		for l := range d.of {
			addClasses(&d.of[l].came, now.Labels[l], n)
		}
	case !now.in() && then.in():
		d.went.add(true, n)
		for l := range d.of {
			addClasses(&d.of[l].went, then.Labels[l], n)
		}
	case now.in() && !now.equal(then):
		d.change(now, then, n)
	}
}

// addClasses adds a person to the tallies of the person's classes. Rows of several classes may
// cancel out in a difference of sums.
func addClasses(to *tallies[uint64], classes []uint64, n int) {
	for _, v := range classes {
		to.add(v, len(classes) == 1, n)
	}
}

// change counts how a person who is in both editions has changed. If the person has several rows,
// each may have changed in any way.
func (d *difference) change(now, then *Person, n int) {
	several := (now.Several || then.Several) && now.Whole != then.Whole
	for c := range d.columns {
		if own := now.Columns[c] != then.Columns[c]; own || several {
			d.changed[c].add(own, n)
			for l := range d.of {
				d.of[l].changeWithin(c, now.Labels[l], own, n)
			}
		}
	}
	for l := range d.of {
		d.of[l].change(now.Labels[l], then.Labels[l], several, n)
	}
}

// change counts a person whose label differs between the two editions. A person whose rows all have
// one class, the same in both editions, has not changed.
func (d *ofLabel) change(now, then []uint64, several bool, n int) {
	own := !slices.Equal(now, then)
	if !own && (!several || len(now) == 1) {
		return
	}
	d.changed.add(own, n)
	d.single.add(!several, n)
	for _, from := range then {
		for _, to := range now {
			if from != to {
				d.moved.add([2]uint64{from, to}, !several, n)
			}
		}
	}
}

// changeWithin adds a person's change of a column to the tallies of the person's classes. A person
// with rows of several classes counts in [ofLabel.moved], too. So sums that weight these classes
// differently await approval, unless ten people have certainly moved. All other sums depend on the
// changes of all the person's rows.
func (d *ofLabel) changeWithin(column int, classes []uint64, sure bool, n int) {
	for _, v := range classes {
		d.within[column].add(v, sure, n)
	}
}

// beside lists the changes that released rows or sums reveal about few people.
func (d *difference) beside(sums, out *difference, e pastEdition) Beside {
	return Beside{
		ID: e.id, Number: e.number, Rows: d.inRows(), Sums: sums.inSums().plus(out.inSums()),
		Classes: sums.inClasses(), Numbers: sums.inNumbers(), HeldOut: out.inClasses(),
	}
}

// inRows lists the changes that released rows reveal about few people.
func (d *difference) inRows() Few {
	f := Few{Any: d.byRows && d.came.possible > 0 && d.went.possible > 0}
	f.Columns = d.columnsOf(func(c int) bool { return d.changed[c].few() })
	for l, label := range d.labels {
		if d.of[l].changed.few() {
			f.Labels = append(f.Labels, label)
		}
	}
	return f
}

// inSums lists the changes that released sums reveal about few people. People who came or went
// change sums, too.
func (d *difference) inSums() Few {
	f := d.inRows()
	f.Any = f.Any || d.came.few() || d.went.few()
	f.Labels = nil
	for l, label := range d.labels {
		if d.of[l].single.few() {
			f.Labels = append(f.Labels, label)
		}
	}
	return f
}

func (d *difference) inClasses() map[string][]string {
	return d.byLabel((*tallies[uint64]).few, func(of *ofLabel) bool { return of.came.few() || of.went.few() || of.moved.few() })
}

// inNumbers treats each label as a number, and returns the columns in which few people have
// changed. It does not consider people whose number changed, because sums with the label then await
// approval.
func (d *difference) inNumbers() map[string][]string {
	return d.byLabel((*tallies[uint64]).fewOthers, func(of *ofLabel) bool { return of.came.fewOthers() || of.went.fewOthers() })
}

// byLabel returns, for each label, the columns in which few people have changed. If fewPeople
// reports few people for a label, the label gets [everyColumn].
func (d *difference) byLabel(isFew func(*tallies[uint64]) bool, fewPeople func(*ofLabel) bool) map[string][]string {
	list := make(map[string][]string)
	for l, label := range d.labels {
		of := &d.of[l]
		if fewPeople(of) {
			list[label] = everyColumn
		} else if columns := d.columnsOf(func(c int) bool { return isFew(&of.within[c]) }); columns != nil {
			list[label] = columns
		}
	}
	return list
}

// everyColumn is the short form of a list of all columns.
var everyColumn = []string{""}

func (d *difference) columnsOf(few func(c int) bool) (list []string) {
	for c, name := range d.columns {
		if few(c) {
			list = append(list, name)
		}
	}
	if len(list) > 1 && len(list) == len(d.columns) {
		return everyColumn
	}
	return list
}

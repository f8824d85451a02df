package profile

import (
	"fmt"
	"maps"
	"slices"
)

// recipe holds the parts of a draft that depend on the protocol.
type recipe struct {
	byColumns        bool   // whether sites have different columns of the same people
	sums             bool   // whether the protocol adds up sums; it then allows privacy, and takes gamma as a plain number
	oneTable         bool   // whether one table is enough
	note             string // YAML comment after the protocol
	classes, numbers string // learner for classes, and learner for measured numbers
	folds            bool   // whether jobs of the protocol can choose numbers by cross-validation
	last             string // last lines of the job
}

// recipes has the protocols that a draft can name.
var recipes = map[string]recipe{
	"okra":    {note: " # pooled trains the same model without privacy, and leaves a file that predicts", classes: "svc, C: 1", numbers: "ridge, alpha: 1", folds: true, last: "  compare: [pooled, alone]\n"},
	"pooled":  {oneTable: true, classes: "svc, C: 1", numbers: "ridge, alpha: 1", folds: true, last: "  compare: [alone]\n"},
	"moments": {sums: true, classes: "ridge-classifier, alpha: [0.01, 0.1, 1]", numbers: "ridge, alpha: [0.01, 0.1, 1]", last: "  prediction: open # deployed, each site keeps a model; simulate leaves the first site's\n"},
	"sealed":  {sums: true, classes: "ridge-classifier", numbers: "ridge", last: "  prediction: open # deployed, each site keeps a model; simulate leaves the first site's\n"},
	"gram":    {byColumns: true, classes: "svc, C: 1", numbers: "ridge, alpha: 1", folds: true, last: "  compare: [pooled, alone]\n"},
	"fdskl":   {byColumns: true, classes: "logistic", numbers: "squared", last: "  compare: [pooled, alone]\n"},
}

// Protocols lists the protocols that a draft can name, in alphabetical order.
func Protocols() []string { return slices.Sorted(maps.Keys(recipes)) }

// Usual returns the protocol of a draft that names none.
func Usual(tables int) string {
	if tables > 1 {
		return "okra"
	}
	return "pooled"
}

// recipe returns the parts of the draft that depend on the protocol.
func (d Draft) recipe() recipe { return recipes[d.Protocol] }

// Labels reports whether site i has labels. If sites hold different columns of the same
// people, only the first site has labels.
func (d Draft) Labels(i int) bool { return i == 0 || !d.recipe().byColumns }

// labelled returns the sites that have labels.
func (d Draft) labelled() []Site {
	if d.recipe().byColumns {
		return d.Sites[:1]
	}
	return d.Sites
}

// Unpaired reports whether the draft has no column yet, because the sites share no column but the label.
func (d Draft) Unpaired() bool { return !d.recipe().byColumns && len(d.shared()) == 0 }

// Check returns an error if the protocol cannot run over the sites, or not with the draft's privacy.
func (d Draft) Check() error {
	switch {
	case d.recipe().byColumns && !d.hasIDs():
		return fmt.Errorf("protocol %s needs ids to match the rows of the sites; name their columns: --id COLUMN, or --id SITE=COLUMN", d.Protocol)
	case !d.recipe().oneTable && len(d.Sites) < 2:
		return fmt.Errorf("protocol %s needs the tables of at least two sites; give more files, or --protocol %s", d.Protocol, Usual(1))
	}
	return d.checkPrivacy()
}

// Limits of a draft whose numbers are chosen by cross-validation, in rows: fewer rows are too few for five
// folds, and more rows would make a first run long.
const (
	leastTuned = 100
	mostTuned  = 5000
	folds      = 5
	ofEach     = 4 * folds // rows of each class and site
)

// tunes reports whether the draft chooses numbers of the kernel and the learner by cross-validation.
// Numbers that nobody chose suit few rows and many rows unequally, and so make joining look better or
// worse than it is.
func (d Draft) tunes() bool {
	rows := 0
	for _, s := range d.labelled() {
		rows += s.Rows
		for _, n := range s.Classes {
			if !d.measured() && n < ofEach {
				return false
			}
		}
	}
	return d.recipe().folds && leastTuned <= rows && rows <= mostTuned
}

// training returns the keys after data: protocol, kernel, learner, and the protocol's further keys.
func (d Draft) training(columns []shared) string {
	r := d.recipe()
	protocol, kernel, learner, last := "{name: "+d.Protocol+"}"+r.note, "gamma: 1, gamma_unit: median}", r.classes, r.last
	switch {
	case r.sums && len(columns) == 0:
		kernel = "gamma: 0.5} # write 1 / (2 x the number of columns, one for each word of a category)"
	case r.sums:
		n := prepared(columns)
		kernel = fmt.Sprintf("gamma: %s} # about 1 / (2 x %d), for %[2]d prepared columns; correct it if you add or remove columns", number(usualGamma(n)), n)
	}
	if d.measured() {
		learner = r.numbers
	}
	if d.tunes() {
		kernel, learner = "gamma: [0.0625, 0.25, 1, 4], gamma_unit: median}", "svc, C: [0.1, 1, 10, 100]"
		if d.measured() {
			learner = "ridge, alpha: [0.01, 0.1, 1, 10]"
		}
	}
	if len(d.Sites) == 1 {
		last = "" // one table has nothing to compare with
	}
	return fmt.Sprintf("  protocol: %s\n  kernel: {name: rbf, %s\n  learner: {name: %s}\n%s", protocol, kernel, learner, last)
}

// usualGamma returns the inverse of a usual squared distance between standardised rows of n prepared
// columns, rounded up to one digit. Each column adds two to this distance.
func usualGamma(n int) float64 { return oneDigit(1 / (2 * float64(n))) }

// prepared estimates the number of columns after the preparation: a category becomes one for each word.
func prepared(columns []shared) (n int) {
	for _, c := range columns {
		n += max(len(c.Words), 1)
	}
	return n
}

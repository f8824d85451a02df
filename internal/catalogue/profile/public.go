package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/privacy"
)

// private reports whether the draft is of a job with differential privacy.
func (d Draft) private() bool { return d.Epsilon != 0 }

// checkPrivacy returns an error if the protocol has no privacy, or if no job can have this epsilon.
func (d Draft) checkPrivacy() error {
	switch {
	case !d.private():
		return nil
	case !d.recipe().sums:
		return fmt.Errorf("protocol %s has no differential privacy; write --protocol moments or --protocol sealed beside --epsilon, or remove --epsilon", d.Protocol)
	}
	return privacy.Guarantee{Epsilon: d.Epsilon, Delta: d.delta()}.Check()
}

// delta returns a power of ten that is at most a tenth of one over the number of rows. A larger delta
// would allow a mechanism that publishes rows drawn at random.
func (d Draft) delta() float64 {
	rows := 1
	for _, s := range d.Sites {
		rows += s.Rows
	}
	return min(privacy.MostDelta, scaled(1, int(math.Floor(math.Log10(.1/float64(rows))))))
}

// privateTraining returns the keys after data of a job with privacy. Linear features need the least noise.
func (d Draft) privateTraining() string {
	learner := d.recipe().classes
	if d.measured() {
		learner = d.recipe().numbers
	}
	learner, _, _ = strings.Cut(learner, ",") // without alpha
	return fmt.Sprintf("  protocol: {name: %s, privacy: {epsilon: %s, delta: %s}} # for 10,000 rows or more: read docs/privacy.md first\n  kernel: {name: linear} # or {name: rbf, gamma: NUMBER}, whose random features need more rows\n  learner: {name: %s} # alpha follows from the noise\n%s",
		d.Protocol, number(d.Epsilon), number(d.delta()), learner, d.recipe().last)
}

// publicKeys returns the text of a column's keys in a dictionary for differential privacy: numbers have a
// range, numbers outside it become its nearer end, and gaps have a value. It returns "" for a column that has
// no such keys here: of dates, of many or reserved words, and of numbers in a form that this reading does not
// read.
func (c Column) publicKeys() string {
	keys := []string{"type: " + string(c.Type)}
	if c.unit != "" {
		keys = append(keys, "unit: "+scalar(c.unit))
	}
	reserved := func(word string) bool { return word == "missing" || word == "other" }
	switch {
	case c.Type == prepare.Number && !c.Unread:
		low, high := roundedRange(c.low, c.Greatest)
		keys = append(keys, fmt.Sprintf("range: [%s, %s], outside: clip, missing: %s", number(low), number(high), number((low+high)/2)))
	case c.Type == prepare.Boolean:
		keys = append(keys, "true: "+words(c.yes), "false: "+words(c.no), "missing: "+scalar(c.no[0]))
	case c.Type == prepare.Category && c.Words != nil && !slices.ContainsFunc(c.Words, reserved):
		keys = append(keys, "categories: "+words(c.Words), "unknown: other, missing: category")
	default:
		return ""
	}
	return strings.Join(keys, ", ")
}

// publicAdvice returns a YAML comment for the person who corrects the entry of a column in a job with privacy.
func (c Column) publicAdvice() string {
	switch c.Type {
	case prepare.Number:
		return " # write the possible range and a usual value for gaps, from general knowledge: these are the data's, rounded"
	case prepare.Boolean:
		return " # a gap counts as no"
	case prepare.Category:
		return " # list the possible words, from general knowledge: these are the data's"
	}
	return ""
}

package profile

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/humanize"
)

// Draft holds the tables of one or several sites, from which the draft of a job for mercer simulate is
// made. A person who knows the data has to correct it.
type Draft struct {
	Sites    []Site
	Label    string  // the label's name in the job
	Protocol string  // one of Protocols
	Epsilon  float64 // epsilon of a job with differential privacy; 0 for none
}

// Site is one party's table. Label and ID are the names that its own file has.
type Site struct {
	Party string
	Suggestion
}

// shared is a column that all sites have or, if sites hold different columns, a column of one site.
type shared struct {
	Column
	own []Column // the column at each site
}

// Job returns the text of a job file.
func (d Draft) Job() string {
	var b strings.Builder
	columns := d.shared()
	fmt.Fprintf(&b, "# A job for mercer simulate, drafted from %s. Correct it: ranges, units and words are guessed.\n# mercer job check FILE shows how each column is then read. A further draft guesses them anew,\n# without your corrections: write it to another file.\n", humanize.Count(len(d.Sites), "table"))
	fmt.Fprintf(&b, "apiVersion: mercer/v1\nkind: Job\nmetadata: {name: %s}\nspec:\n  data:\n    sources:\n", d.name())
	for i, s := range d.Sites {
		own := columns
		if d.recipe().byColumns {
			own = s.alone(len(d.Sites))
		}
		b.WriteString(indented(d.source(i, s, own), "      "))
	}
	if d.hasIDs() {
		b.WriteString("    id: id\n")
	}
	if d.recipe().byColumns {
		b.WriteString("    partition: {by: columns} # sites hold other columns of the same people\n")
	}
	if slices.ContainsFunc(d.labelled(), func(s Site) bool { return s.lacksLabels() }) {
		fmt.Fprintf(&b, "    label: {column: %s, missing: drop-row} # some rows have no label\n", scalar(d.Label))
	}
	b.WriteString("    dictionary: # what every site's columns mean\n" + indented(d.dictionary(columns), "      "))
	b.WriteString("    test: {fraction: 0.25}\n")
	if d.tunes() {
		fmt.Fprintf(&b, "    folds: %d # a cross-validation on the training rows chooses gamma and the learner's number\n", folds)
	}
	if d.private() {
		b.WriteString("    scale: range # by the ranges above, and by no row\n" + d.privateTraining())
		return b.String()
	}
	b.WriteString("    scale: standard\n")
	b.WriteString(d.training(columns))
	return b.String()
}

// name returns the name of the job, made of the parties' names, or "joint" if they are too long.
func (d Draft) name() string {
	var parties []string
	for _, s := range d.Sites {
		parties = append(parties, s.Party)
	}
	if name := strings.Join(parties, "-"); len(name) <= longestName {
		return name
	}
	return "joint"
}

// measured reports whether the labels look like measured numbers, not classes.
func (d Draft) measured() bool {
	return !slices.ContainsFunc(d.labelled(), func(s Site) bool {
		c := s.column(s.Label)
		return c.Type != prepare.Number || c.Distinct <= fewWords
	})
}

func (d Draft) hasIDs() bool {
	return !slices.ContainsFunc(d.Sites, func(s Site) bool { return s.ID == "" })
}

// column returns the table's column of a name.
func (t *Table) column(name string) Column {
	if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); i >= 0 {
		return t.Columns[i]
	}
	return Column{}
}

// shared returns the columns that all sites have under the same name, but for case, blanks and
// signs, and with the same type and unit. Sites of a partition by columns share none. For a job with
// differential privacy it leaves out columns without publicKeys.
func (d Draft) shared() (list []shared) {
	if d.recipe().byColumns {
		return nil
	}
	for _, c := range d.Sites[0].describedColumns() {
		all := shared{Column: c}
		for _, s := range d.Sites {
			if alike := s.likeNamed(c.Name); len(alike) == 1 {
				all.own = append(all.own, alike[0])
			}
		}
		all.readBooleans()
		differs := func(o Column) bool { return o.Type != all.Type || o.unit != all.unit }
		if len(all.own) == len(d.Sites) && !slices.ContainsFunc(all.own, differs) {
			all.join()
			list = append(list, all)
		}
	}
	if d.private() {
		list = slices.DeleteFunc(list, func(c shared) bool { return c.publicKeys() == "" })
	}
	return list
}

// alone returns the site's own columns, for a job in which sites hold different columns.
func (s Site) alone(sites int) (list []shared) {
	for _, c := range s.describedColumns() {
		list = append(list, shared{c, slices.Repeat([]Column{c}, sites)})
	}
	return list
}

// likeNamed returns the described columns whose names differ from the given one in case, blanks and
// signs at most.
func (s Site) likeNamed(name string) []Column {
	return slices.DeleteFunc(s.describedColumns(), func(c Column) bool { return plainName(c.Name) != plainName(name) })
}

// readBooleans describes columns of 0 and 1 as booleans if another site writes words for no and yes.
func (c *shared) readBooleans() {
	if !slices.ContainsFunc(c.own, func(o Column) bool { return o.Type == prepare.Boolean }) {
		return
	}
	for i, o := range c.own {
		c.own[i] = o.asBoolean()
	}
	c.Column = c.Column.asBoolean()
}

// asBoolean describes a column of 0 and 1 as a boolean. It returns other columns unchanged.
func (c Column) asBoolean() Column {
	if c.Type == prepare.Number && c.Distinct == 2 && c.Least == 0 && c.Greatest == 1 {
		c.Type, c.no, c.yes = prepare.Boolean, []string{"0"}, []string{"1"}
	}
	return c
}

// plainName returns the letters and digits of a name, in lower case. A name without any stays as it
// is.
func plainName(name string) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, fuzzymatch.Fold(name)), name)
}

// join describes the column by the cells of all sites. Words that are spelt in several ways are
// mapped to the spelling that most sites use; earlier sites count more.
func (c *shared) join() {
	words := &columnCells{words: make(map[string]int)}
	listed := true
	for i, own := range c.own {
		c.low, c.Greatest = min(c.low, own.low), max(c.Greatest, own.Greatest)
		c.Unread = c.Unread || own.Unread
		if i > 0 {
			c.gaps += own.gaps
			c.no, c.yes = joinSpellings(c.no, own.no), joinSpellings(c.yes, own.yes)
			if own.years.some {
				c.years.add(own.years.least)
				c.years.add(own.years.greatest)
			}
		}
		listed = listed && own.Words != nil
		for _, word := range own.Words {
			words.words[word] += len(c.own) - i
		}
	}
	if c.Type != prepare.Category {
		return
	}
	c.joint, c.Words = true, nil
	if !listed || len(words.words) > prepare.MaxAgreed {
		return
	}
	list, spelled := words.spellings()
	c.Words, c.alone = list, c.wordsOfOneSite(list, spelled)
	for i := range c.own {
		c.own[i].values = respelled(c.own[i], spelled)
	}
}

// wordsOfOneSite returns the words that only one of several sites writes.
func (c *shared) wordsOfOneSite(list []string, spelled map[string]string) (alone []string) {
	sites := make(map[string]int)
	for _, own := range c.own {
		for _, word := range own.Words {
			sites[cmp.Or(spelled[word], word)]++
		}
	}
	for _, word := range list {
		if len(c.own) > 1 && sites[word] == 1 {
			alone = append(alone, word)
		}
	}
	return alone
}

// respelled returns the words to use for the column's own words.
func respelled(own Column, spelled map[string]string) map[string]string {
	values := maps.Clone(own.values)
	for word, use := range values {
		values[word] = cmp.Or(spelled[use], use)
	}
	for _, word := range own.Words {
		if use := spelled[word]; use != "" {
			values = with(values, word, use)
		}
	}
	return values
}

// joinSpellings adds words to a list, without those that differ only by case from a word of the list.
func joinSpellings(list, words []string) []string {
	list = slices.Clone(list)
	for _, word := range words {
		if !slices.ContainsFunc(list, func(had string) bool { return strings.EqualFold(had, word) }) {
			list = append(list, word)
		}
	}
	return list
}

// dictionary returns the text of the dictionary inside the job.
func (d Draft) dictionary(columns []shared) string {
	joint := Suggestion{Table: &Table{}, Label: d.Label, Values: true, Public: d.private()}
	for _, c := range columns {
		joint.Columns = append(joint.Columns, c.Column)
	}
	text := joint.columnLines()
	if d.recipe().byColumns {
		text = d.ownColumns()
	} else {
		text += d.partial(columns)
	}
	if classes := d.classes(); !d.measured() && len(classes) <= fewWords {
		return text + fmt.Sprintf("labels: {%s: {classes: %s}} # the positive class last\n", scalar(d.Label), words(classes))
	}
	if d.measured() {
		low, high := d.labelRange()
		return text + fmt.Sprintf("labels: {%s: {range: [%s, %s]}} # write the possible range: this one is the data's, rounded outwards\n", scalar(d.Label), number(low), number(high))
	}
	return text + fmt.Sprintf("labels: {%s: {}}\n", scalar(d.Label))
}

// ownColumns returns the lines of the dictionary for sites that hold different columns.
func (d Draft) ownColumns() string {
	joint := Suggestion{Table: &Table{}, Values: true}
	for _, s := range d.Sites {
		for _, c := range s.describedColumns() {
			c.Name, c.joint = s.Party+"."+c.Name, true
			joint.Columns = append(joint.Columns, c)
		}
	}
	return joint.columnLines()
}

// labelRange returns a range that contains the numeric labels of all sites.
func (d Draft) labelRange() (low, high float64) {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, s := range d.labelled() {
		c := s.column(s.Label)
		least, greatest = min(least, c.low), max(greatest, c.Greatest)
	}
	return roundedRange(least, greatest)
}

// classes returns the classes, sorted, of the first site that calls the label as the job does. Of
// two classes, a word such as "no" or "healthy" is first, so that the other one is positive.
func (d Draft) classes() []string {
	i := slices.IndexFunc(d.Sites, func(s Site) bool { return s.Label == d.Label })
	list := slices.Sorted(maps.Keys(d.Sites[max(i, 0)].Classes))
	if len(list) == 2 && isNegative(list[1]) && !isNegative(list[0]) {
		slices.Reverse(list)
	}
	return list
}

// negatives are words for the class that a test does not look for.
var negatives = []string{"negative", "neg", "healthy", "well", "normal", "benign", "control", "controls", "alive", "absent", "none", "good", "gesund", "negativ", "sano", "sain"}

// isNegative reports whether a word is a usual one for the class that a test does not look for.
func isNegative(word string) bool {
	return isOneOf(word, booleans, 0) || slices.Contains(negatives, strings.ToLower(word))
}

// partial returns the lines of the dictionary, as comments, for the sites' columns that are not among the
// given ones.
func (d Draft) partial(columns []shared) string {
	var lines strings.Builder
	for i, s := range d.Sites {
		for _, c := range s.describedColumns() {
			if slices.ContainsFunc(columns, func(all shared) bool { return all.own[i].Name == c.Name }) {
				continue
			}
			keys, _ := Suggestion{Values: true}.columnKeys(c)
			fmt.Fprintf(&lines, "  # %s: {%s} # at %s\n", scalar(c.Name), keys, s.Party)
		}
	}
	if lines.Len() == 0 {
		return ""
	}
	return "  # Take the # away from a column to use it, and describe it at every site, under columns:\n" + lines.String()
}

// indented puts blanks in front of every line of a text.
func indented(text, blanks string) string {
	if text == "" {
		return ""
	}
	return blanks + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+blanks) + "\n"
}

package profile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
)

// source returns the text that describes a site's table.
func (d Draft) source(i int, s Site, columns []shared) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n  %s\n%s%s%s", s.Party, s.sourceLine(), indented(s.csvLine(), "  "), d.idLine(s), s.textLine())
	lines := d.labelLine(s)
	if d.hasIDs() && s.ID != "id" {
		lines += fmt.Sprintf("    %s: {as: id}\n", scalar(s.ID))
	}
	used := map[string]bool{s.Label: true, s.ID: true}
	for _, c := range columns {
		own := c.own[i]
		used[own.Name] = true
		lines += own.lineAs(c.Column)
	}
	if lines += s.unusedLines(used); lines != "" {
		b.WriteString("  columns:\n" + lines)
	}
	return b.String()
}

// idLine returns the line with the rule that makes a site's ids. It returns "" if the sites do not hold different
// columns of the same people, if a site has no ids, or if no steps would make more ids equal.
func (d Draft) idLine(s Site) string {
	if !d.recipe().byColumns || !d.hasIDs() {
		return ""
	}
	var tables [][]string
	for _, o := range d.Sites {
		tables = append(tables, o.ids)
	}
	_, alike, steps := prepare.CommonIDs(tables)
	if steps == nil {
		return ""
	}
	return fmt.Sprintf("  id: {columns: %s, normalize: [%s]} # so that %d ids are common to all sites\n", words([]string{s.ID}), strings.Join(steps, ", "), alike)
}

// textLine lists, as a comment, the columns of free text and the unreadable columns, which no dictionary can
// describe. It leaves out columns that tell who a person is.
func (s Site) textLine() string {
	var names []string
	for _, c := range s.Columns {
		if (c.Type == Text || c.Type == Unreadable) && c.Name != s.Label && c.Name != s.ID && !identifying.MatchString(plainName(c.Name)) {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return ""
	}
	return "  # not used, since their cells are read as free text: " + words(names) + "\n"
}

// labelLine returns the line that names the labels as the job does, gives their unit, and asks for a class of
// the job in place of each class that the job does not list. It returns "" if no such line is necessary.
func (d Draft) labelLine(s Site) string {
	if s.Label == "" {
		return ""
	}
	keys, advice := []string{}, ""
	if s.Label != d.Label {
		keys = append(keys, "as: "+scalar(d.Label))
	}
	if unit := s.column(s.Label).unit; unit != "" && d.measured() {
		keys = append(keys, "unit: "+scalar(unit))
	}
	var pairs []string
	for _, class := range slices.Sorted(maps.Keys(s.Classes)) {
		if known := d.classes(); !d.measured() && len(known) <= fewWords && !slices.Contains(known, class) {
			pairs = append(pairs, scalar(class)+": CLASS")
		}
	}
	if pairs != nil && len(pairs) <= fewWords {
		keys = append(keys, "values: {"+strings.Join(pairs, ", ")+"}")
		advice = " # write in place of each CLASS one of the classes below"
	}
	if len(keys) == 0 {
		return ""
	}
	return fmt.Sprintf("    %s: {%s}%s\n", scalar(s.Label), strings.Join(keys, ", "), advice)
}

// lineAs returns the line that reads a site's column as the job's, or "" if none is necessary.
func (c Column) lineAs(joint Column) string {
	keys, advice := c.ownKeys()
	if c.Type == prepare.Date && c.formats == nil && c.Format != joint.Format {
		keys = append(keys, "format: "+scalar(c.Format))
	}
	if c.Name != joint.Name {
		keys = append([]string{"as: " + scalar(joint.Name)}, keys...)
	}
	if keys == nil {
		return ""
	}
	return fmt.Sprintf("    %s: {%s}%s\n", scalar(c.Name), strings.Join(keys, ", "), advice)
}

// unusedLines lists, as comments, the columns that the job does not use, and says how to use them.
func (s Site) unusedLines(used map[string]bool) string {
	var lines strings.Builder
	for _, c := range s.describedColumns() {
		if used[c.Name] {
			continue
		}
		keys, _ := c.ownKeys()
		if c.Type == prepare.Date && c.formats == nil {
			keys = append(keys, "format: "+scalar(c.Format))
		}
		fmt.Fprintf(&lines, "    # %s: {%s} # %s\n", scalar(c.Name), strings.Join(append([]string{"as: NAME"}, keys...), ", "), c.Type)
	}
	if lines.Len() == 0 {
		return ""
	}
	return "    # To use one of these, take the # away and write its name in the dictionary for NAME:\n" + lines.String()
}

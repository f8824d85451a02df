package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job/refused"
)

// refusal is a mistake in a file with the error message about it.
type refusal struct{ File, Says, Command string }

// refusals groups refused files by the section that contains the mistake. It shows each message
// once in a section. Of the messages about keys of another protocol or learner, it shows one
// example.
func refusals(cases []refused.Case) map[string][]refusal {
	list, told := make(map[string][]refusal), make(map[string]bool)
	for _, c := range cases {
		says := c.Place + foreignKey.ReplaceAllString(c.Says, "")
		if !told[says] {
			list[c.Place] = append(list[c.Place], refusal{changedLines(c), c.Says, ""})
		}
		told[says] = true
	}
	return list
}

// foreignKey matches the end of a message about a key that belongs to another protocol or learner.
var foreignKey = regexp.MustCompile(`[a-z_C]+; remove it$`)

// maxShown is the largest number of bytes that are shown of a line.
const maxShown = 110

// changedLines returns the lines of a refused file that the correct file does not have. If the refused file only lacks
// lines, it returns these after the word "without".
func changedLines(c refused.Case) string {
	if strings.TrimSpace(c.File) == "" {
		return ""
	}
	before, after := strings.Split(c.Base, "\n"), strings.Split(c.File, "\n")
	if gone := missingLines(before, after); len(missingLines(after, before)) == 0 && len(gone) > 0 {
		return "without " + strings.Join(gone, " ")
	}
	return strings.Join(missingLines(after, before), " ⏎ ")
}

// missingLines returns the lines of one file that a second file does not contain.
func missingLines(lines, other []string) (list []string) {
	for _, line := range lines {
		if slices.Contains(other, line) {
			continue
		}
		line = strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(line, "\t", "→")), "\xff", `\xff`)
		if len(line) > maxShown {
			line = line[:maxShown] + "..."
		}
		list = append(list, line)
	}
	return list
}

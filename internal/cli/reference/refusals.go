package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job/refused"
)

// refusal is a mistake in a file with the error message about it.
type refusal struct{ File, Says, Command string }

// refusals groups refused files by the section that the message is about. It shows each message
// once in a section. For keys that only another protocol or learner has, it shows one example.
func refusals(cases []refused.Case) map[string][]refusal {
	list, told := make(map[string][]refusal), make(map[string]bool)
	for _, c := range cases {
		says := c.Place + foreign.ReplaceAllString(c.Says, "")
		if !told[says] {
			list[c.Place] = append(list[c.Place], refusal{shown(c), c.Says, ""})
		}
		told[says] = true
	}
	return list
}

// foreign matches the end of a message about a key that only another protocol or learner has.
var foreign = regexp.MustCompile(`[a-z_C]+; remove it$`)

// longest is the largest length of the shown part of a file.
const longest = 110

// shown returns the lines of a refused file that the correct file does not have.
func shown(c refused.Case) string {
	if strings.TrimSpace(c.File) == "" {
		return ""
	}
	before, after := strings.Split(c.Base, "\n"), strings.Split(c.File, "\n")
	if gone := missing(before, after); len(missing(after, before)) == 0 && len(gone) > 0 {
		return "without " + strings.Join(gone, " ")
	}
	return strings.Join(missing(after, before), " ⏎ ")
}

// missing returns the lines that are not in other.
func missing(lines, other []string) (list []string) {
	for _, line := range lines {
		if slices.Contains(other, line) {
			continue
		}
		line = strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(line, "\t", "→")), "\xff", `\xff`)
		if len(line) > longest {
			line = line[:longest] + "..."
		}
		list = append(list, line)
	}
	return list
}

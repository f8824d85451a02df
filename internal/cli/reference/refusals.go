package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job/refused"
)

// refusal is a mistake and the sentence about it.
type refusal struct{ File, Says, Command string }

// refusals sorts the cases by the place in the file that a sentence is about. Each sentence stands
// once in a place, and of keys that only another protocol or learner has, one is enough.
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

// foreign is the end of a sentence about a key that only another protocol or learner has.
var foreign = regexp.MustCompile(`[a-z_C]+; remove it$`)

// longest bounds the part of a file that is shown.
const longest = 110

// shown returns the lines of a file that the job without the mistake lacks.
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

// missing returns the lines of a text that another lacks.
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

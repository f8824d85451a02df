package rows

import (
	"fmt"
	"maps"
	"strings"

	"github.com/mercer-fl/mercer/internal/learner"
)

// JoinWords returns the parties' words about figures over their own held-out rows: of each party
// the later one.
func JoinWords(before, after map[string]learner.Word) map[string]learner.Word {
	all := maps.Clone(after)
	for name, word := range before {
		if _, later := after[name]; !later {
			all[name] = word
		}
	}
	return all
}

// FiguresLeakage adds to the statement of a job's leakage what figures over the rows of single
// parties tell.
func FiguresLeakage(lines map[string][]string, a *learner.Assessment) {
	if a == nil {
		return
	}
	var told []string
	for _, one := range a.ByParty {
		if one.Withheld == "" {
			told = append(told, one.Party)
		}
	}
	if told == nil {
		return
	}
	lines["party"] = append(lines["party"], fmt.Sprintf("Whoever reads the result learns how well the model does on the held-out rows of %s alone, as the policy of each allows.", strings.Join(told, ", of ")))
	lines["server"] = append(lines["server"], "The server knows which rows are whose, and could make such figures of every party.")
}

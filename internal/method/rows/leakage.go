package rows

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/method"
)

// preparationLeakage states what each role learns while a preparation is fitted.
func preparationLeakage(c method.Case) map[string][]string {
	plan, err := prepare.NewPlan(c.Job.Data.Schema, c.Job.Data.Fitted())
	if err != nil { // then no step of the job has run
		return nil
	}
	lines := map[string][]string{"server": {
		"The server reads the schema in the job: names of columns, listed categories, ranges and units. It takes no part in fitting the preparation.",
	}}
	if words := c.Job.Data.Schema.Agreed(); len(words) > 0 {
		wordsLeakage(c, words, lines)
	}
	if told := plan.Told(); len(told) > 0 {
		sumsLeakage(c, told, lines)
	}
	return lines
}

func wordsLeakage(c method.Case, columns []string, lines map[string][]string) {
	list := strings.Join(columns, ", ")
	lines["leader"] = append(lines["leader"], fmt.Sprintf("The leader, %s, learns which words of %s each party has in at least %d of its training rows.", c.Parties[0], list, prepare.Least))
	told := fmt.Sprintf("Every party learns which words of %s somebody has in at least %d training rows", list, prepare.Least)
	if len(c.Parties) == 2 {
		told += ", and with two parties so who has them"
	}
	lines["party"] = append(lines["party"], told+". Rarer words are told to nobody.")
}

func sumsLeakage(c method.Case, told []string, lines map[string][]string) {
	list, train := strings.Join(told, "; "), len(c.Parties)
	if c.Job.Data.Test.Party != "" { // it is held out, and adds zeros
		train--
	}
	if train == 2 {
		lines["party"] = append(lines["party"], fmt.Sprintf("Two parties train. Every party learns sums over the training rows of both, and each of the two by its own the other's: the number of rows; %s. A range and listed categories in place of fitted ones avoid that.", list))
		return
	}
	lines["party"] = append(lines["party"], fmt.Sprintf("Every party learns sums over all parties' training rows: the number of rows; %s. They are added up by secure aggregation with the leader, %s, as its server: nobody sees one party's numbers.", list, c.Parties[0]))
	lines["coalition"] = append(lines["coalition"], "All parties but one together learn the sums of the one that is left.")
}

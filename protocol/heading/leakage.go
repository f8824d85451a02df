package heading

import "fmt"

// Facts hold the numbers that the leakage of one job depends on.
type Facts struct {
	Leader  string
	Classes bool // class names are compared
}

// Leakage says in plain words what each role learns in this job beyond its own
// names. The keys are "leader", "party", "server" and "broker".
func Leakage(f Facts) map[string][]string {
	leader := fmt.Sprintf("The leader, %s, learns how many columns each other party's table has and, where they do not go together, which of its own columns a party lacks.", f.Leader)
	if f.Classes {
		leader += " It learns which classes each party has."
	}
	return map[string][]string{
		"leader": {leader},
		"party":  {"Every party learns where its columns stand in the leader's table, by their names. Of a column that it does not have it can test guesses at the name."},
		"server": {"The server takes no part in the agreement on the columns' names and learns none of them."},
		"broker": {"The broker sees that the parties agree on columns; the sizes tell the number of columns with names within a factor of two."},
	}
}

package scale

import "fmt"

// Facts hold the numbers that the leakage of one job depends on.
type Facts struct {
	Method  Method
	Leader  string
	Parties int // that hold rows, the leader included
	Columns int // 0 where the statement's reader must not learn it
	// FewestRows is the number of rows of the smallest party, 0 if nobody who
	// writes this down may know it.
	FewestRows int
}

// Leakage says in plain words what each role learns in this job beyond its own
// rows and the scaling. The keys are "leader", "party", "coalition", "server"
// and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"leader": f.leader(),
		"party":  f.party(),
		"coalition": {
			"Parties that join with the leader learn what the leader knows. Without the leader they learn no more than one of them would with their rows pooled.",
		},
		"server": {"The server takes no part in scaling and learns nothing from its messages."},
		"broker": {"The broker sees who talks, when and how much: " + f.seen()},
	}
}

// seen describes what the sizes of messages tell.
func (f Facts) seen() string {
	if f.Columns == 0 {
		return "from the sizes it knows the number of columns within a factor of two."
	}
	low, high := sizes(f.Columns)
	return fmt.Sprintf("from the sizes it knows that there are %d to %d columns.", low, high)
}

func (f Facts) leader() []string {
	columns := "each column"
	if f.Columns > 0 {
		columns = fmt.Sprintf("each of its %d columns", f.Columns)
	}
	lines := []string{fmt.Sprintf("The leader, %s, learns how many rows each other party has and, for %s, %s.", f.Leader, columns, f.perParty())}
	if s := f.small(); s != "" {
		lines = append(lines, s)
	}
	return lines
}

func (f Facts) perParty() string {
	if f.Method == MinMax {
		return "the least and the greatest value, each of which is the real value of some row"
	}
	return "the mean and the standard deviation"
}

// small warns of parties whose statistics say nearly everything.
func (f Facts) small() string {
	switch {
	case f.FewestRows == 1:
		return "A party with a single row sends that row itself."
	case f.FewestRows == 2:
		return "A party with two rows gives away both values of every column, though not which belong together."
	case f.FewestRows > 0 && f.Method == MinMax:
		return fmt.Sprintf("The smallest party has %d rows, so that each column tells 2 of its %d values.", f.FewestRows, f.FewestRows)
	}
	return ""
}

func (f Facts) party() []string {
	if f.Method == Standard {
		lines := []string{"Every party learns the mean and the standard deviation of each column over all parties."}
		if f.Parties == 2 {
			lines = append(lines, "With two parties, one that guesses the other's number of rows can compute the other's means and deviations.")
		}
		return lines
	}
	lines := []string{"Every party learns the least and the greatest value of each column over all parties. Where one lies outside its own range, it is the real value of a row elsewhere."}
	if f.Parties == 2 {
		lines = append(lines, "With two parties, that is a row of the one other party.")
	}
	return lines
}

// sizes returns the least and the greatest number of columns that give
// messages as large as those for this number.
func sizes(columns int) (low, high int) {
	high = newLayout(columns, bulk()).width
	if high == minWidth {
		return 1, high
	}
	return high/2 + 1, high
}

package scale

import "fmt"

// Facts holds the numbers on which the leakage of one job depends.
type Facts struct {
	Method  Method
	Leader  string
	Parties int // number of parties with rows, the leader included
	Columns int // number of columns; 0 if the reader of the statement must not learn it
	// FewestRows is the number of rows of the smallest party. It is 0 if the writer of the
	// statement does not know it.
	FewestRows int
}

// Leakage describes what each role learns in this job beyond its own rows.
// The keys are "leader", "party", "coalition", "server" and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"leader": f.leader(),
		"party":  f.party(),
		"coalition": {
			"Parties that work with the leader learn what the leader knows. Parties without the leader learn no more than one party with all their rows would.",
		},
		"server": {"The server takes no part in scaling and learns nothing from its messages."},
		"broker": {"The broker sees who sends to whom, when and how much: " + f.describeSizes()},
	}
}

// describeSizes describes what the sizes of messages reveal.
func (f Facts) describeSizes() string {
	if f.Columns == 0 {
		return "from the sizes it knows the number of columns within a factor of two."
	}
	low, high := widthsOfSameSize(f.Columns)
	return fmt.Sprintf("from the sizes it knows that there are %d to %d columns.", low, high)
}

func (f Facts) leader() []string {
	columns := "each column"
	if f.Columns > 0 {
		columns = fmt.Sprintf("each of its %d columns", f.Columns)
	}
	lines := []string{fmt.Sprintf("The leader, %s, learns how many rows each other party has and, for %s, %s.", f.Leader, columns, f.perParty())}
	if s := f.warnOfFewRows(); s != "" {
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

// warnOfFewRows returns a warning if the smallest party's statistics reveal many of its values.
func (f Facts) warnOfFewRows() string {
	switch {
	case f.FewestRows == 1:
		return "A party with a single row sends that row itself."
	case f.FewestRows == 2:
		return "A party with two rows reveals both values of every column, but not which values belong to the same row."
	case f.FewestRows > 0 && f.Method == MinMax:
		return fmt.Sprintf("The smallest party has %d rows: for each column it reveals 2 of its %d values.", f.FewestRows, f.FewestRows)
	}
	return ""
}

func (f Facts) party() []string {
	if f.Method == Standard {
		lines := []string{"Every party learns the mean and the standard deviation of each column over all parties."}
		if f.Parties == 2 {
			lines = append(lines, "With two parties, a party that guesses the other's number of rows can compute the other's means and deviations.")
		}
		return lines
	}
	lines := []string{"Every party learns the least and the greatest value of each column over all parties. If one is outside its own range, it is the real value of a row elsewhere."}
	if f.Parties == 2 {
		lines = append(lines, "With two parties, it is a row of the one other party.")
	}
	return lines
}

// widthsOfSameSize returns the least and the greatest number of columns whose messages have the
// same size. The range contains the given number.
func widthsOfSameSize(columns int) (low, high int) {
	high = newLayout(columns, bulk()).width
	if high == minWidth {
		return 1, high
	}
	return high/2 + 1, high
}

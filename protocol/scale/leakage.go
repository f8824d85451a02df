package scale

import "fmt"

// Facts are what the leakage of one job depends on.
type Facts struct {
	Method  Method
	Leader  string
	Parties int // that hold rows, the leader included
	Columns int
	// FewestRows is the number of rows of the smallest party, 0 if nobody who
	// writes this down may know it.
	FewestRows int
}

// Lesson says in plain words what somebody learns from a session.
type Lesson struct {
	Who  string // "leader", "party", "server", "broker"
	What string
}

// Leakage says what each role learns in a job with these facts.
func Leakage(f Facts) []Lesson {
	lessons := []Lesson{{"leader", fmt.Sprintf("%s learns how many rows each other party has and, for each of its %d columns, %s.", f.Leader, f.Columns, f.perParty())}}
	if s := f.small(); s != "" {
		lessons = append(lessons, Lesson{"leader", s})
	}
	low, high := sizes(f.Columns)
	return append(lessons,
		Lesson{"party", f.combined()},
		Lesson{"server", "The server takes no part in scaling and learns nothing from its messages."},
		Lesson{"broker", fmt.Sprintf("The broker sees who talks, when and how much: from the sizes it knows that there are %d to %d columns.", low, high)},
	)
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

func (f Facts) combined() string {
	var s string
	if f.Method == MinMax {
		s = "Every party learns the least and the greatest value of each column over all parties. Where one lies outside its own range, it is the real value of a row elsewhere"
		if f.Parties == 2 {
			s += ", that is, of the one other party"
		}
		return s + "."
	}
	s = "Every party learns the mean and the standard deviation of each column over all parties."
	if f.Parties == 2 {
		s += " With two parties, one that guesses the other's number of rows can compute the other's means and deviations."
	}
	return s
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

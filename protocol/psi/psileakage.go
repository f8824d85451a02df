package psi

import "fmt"

// Facts hold the numbers that the leakage of an alignment depends on.
type Facts struct {
	Parties int
	Common  int // rows; 0 where the statement's reader must not learn it
	MaxIDs  int // of the session's parameters
}

// Leakage says in plain words what each role learns by aligning rows. The keys
// are "server", "party", "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"server":    f.server(),
		"party":     f.party(),
		"coalition": f.coalition(),
		"broker":    {"The broker sees who sends to whom, when and how much; from the amounts follows how many ids each party has. It sees no id and no element."},
	}
}

func (f Facts) server() []string {
	if f.Parties == 2 {
		return []string{"Two parties align their rows by themselves; the server takes no part in it."}
	}
	return []string{
		fmt.Sprintf("The server compares the blinded sets of %d parties. It learns how many ids each has and, for any of the parties, how many ids these have in common: 2^%d numbers. It learns no id, and not which common row is which later.", f.Parties, f.Parties),
	}
}

func (f Facts) party() []string {
	rows := "which of its own rows all parties have"
	if f.Common > 0 {
		rows = fmt.Sprintf("which %d of its own rows all parties have", f.Common)
	}
	return []string{
		fmt.Sprintf("Every party learns how many ids each other party has, and %s. Of its other ids it learns that somebody does not have them.", rows),
		fmt.Sprintf("A party can bring ids that are not in its table, and so ask whether all others have them: up to %d in this session; over all sessions as many as the others' operators allow (max_ids_total). Nothing prevents it; where ids are few, this is a list of everybody.", f.MaxIDs),
	}
}

func (f Facts) coalition() []string {
	if f.Parties == 2 {
		return []string{"One party with the server learns no more than the party alone."}
	}
	return []string{
		fmt.Sprintf("All parties but one can look for up to %d ids each in the remaining party's set.", f.MaxIDs),
		"A party with the server learns how many of its ids each choice of parties shares, and which, if the server lies or the ids are so few that they can be told apart.",
	}
}

package psi

import "fmt"

// Facts holds the numbers on which the leakage of an alignment depends.
type Facts struct {
	Parties int
	Common  int // number of common rows; 0 if the reader of the statement must not learn it
	MaxIDs  int // setting "max_ids" of the session
}

// Leakage describes what each role learns by aligning rows. The keys are "server", "party",
// "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"server":    f.server(),
		"party":     f.party(),
		"coalition": f.coalition(),
		"broker":    {"The broker sees who sends to whom, when and how much. From the amounts it can compute how many ids each party has. It sees no id and no element."},
	}
}

func (f Facts) server() []string {
	if f.Parties == 2 {
		return []string{"Two parties align their rows without the server; it takes no part."}
	}
	return []string{
		fmt.Sprintf("The server compares the blinded sets of %d parties. It learns how many ids each party has and, for every choice of parties, how many ids these have in common: 2^%d numbers. It learns no id, and not which of the common rows is which in later sessions.", f.Parties, f.Parties),
	}
}

func (f Facts) party() []string {
	rows := "which of its own rows all parties have"
	if f.Common > 0 {
		rows = fmt.Sprintf("which %d of its own rows all parties have", f.Common)
	}
	return []string{
		fmt.Sprintf("Every party learns how many ids each other party has, and %s. For each of its other ids it learns that at least one party does not have it.", rows),
		fmt.Sprintf("A party can bring ids that are not in its table, and so test whether all others have them: up to %d in this session, and over all sessions as many as the others' operators allow (max_ids_total). Nothing prevents this. If there are few possible ids, it can list everybody.", f.MaxIDs),
	}
}

func (f Facts) coalition() []string {
	if f.Parties == 2 {
		return []string{"By the alignment itself, one party with the server learns no more than the party alone."}
	}
	return []string{
		fmt.Sprintf("All parties but one together can look for up to %d ids each in the remaining party's set.", f.MaxIDs),
		"A party with the server learns how many of its ids each choice of parties shares. It learns which ids these are if the server lies, or if there are so few ids that they can be distinguished.",
	}
}

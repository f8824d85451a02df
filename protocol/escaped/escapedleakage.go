package escaped

import "fmt"

// Facts hold the numbers that the leakage of a job depends on.
type Facts struct {
	Parties   []string // in the session's order
	TotalRows int
	Labels    bool // the rows have labels
	Grid      bool // some or all features hold values on a grid
}

// Leakage says in plain words what each role learns in this job beyond its own data and the
// result. The keys are "server", "party", "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	first, last := f.Parties[0], f.Parties[len(f.Parties)-1]
	server := []string{
		"The server learns how many rows each party has and which of them are held out.",
		fmt.Sprintf("It learns the complete linear Gram matrix of all %d rows: norms, distances, duplicates, clusters and outliers, whether two parties hold the same row, and with it every kernel, not only the agreed one.", f.TotalRows),
		"From p rows that the server knows by other means it computes the projection of every other row onto their span.",
		"From public rows of the same kind it guesses the rows approximately, with none of them known and with fewer rows than features, as with protocol okra: there 86 % of the variance of 280 standardised tumours.",
		"Beside the matrix it learns the three masked products of every two parties. What they add to the matrix has not been examined.",
	}
	if f.Labels {
		server = append(server, "It learns the label of every row, held-out rows included.")
	}
	if f.Grid {
		server = append(server, "Some or all features hold values on a grid. Where rows outnumber the features that vary, lattice reduction of the Gram matrix gives them, with no row known, as with protocol okra.")
	}
	return map[string][]string{
		"server": server,
		"party": {
			"Protocol escaped protects no party from those behind it in the job: it is here for comparison only.",
			fmt.Sprintf("Of every party before it, a party receives the rows less a mask and the mask times one unknown number. One value that it knows of that party gives it all of that party's rows, exactly. Where rows have a background of zeros it need not know any. So everybody can read the rows of %s, and nobody by this attack the rows of %s.", first, last),
			"A party learns how many rows each other party has.",
		},
		"coalition": {
			"The server knows the number that a party's mask is multiplied by. Together with any party it reads the rows of all before that party, without an attack.",
		},
		"broker": {
			"The broker sees who sends to whom, when and how much; from the amounts follow every party's number of rows and features. It sees no content: messages are sealed end to end.",
		},
	}
}

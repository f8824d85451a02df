package escaped

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Facts holds the properties of a job on which its leakage depends.
type Facts struct {
	Parties   []string // names in the session's order
	TotalRows int
	Labels    bool // whether the rows have labels
	Grid      bool // whether some or all features hold values on a grid
	// Dependent reports that all features hold values on a grid, and that some rows depend on others:
	// the rows outnumber the features that vary.
	Dependent bool
}

// Sentences of the statement that say who can reconstruct rows.
const (
	kinReads         = "From public rows of the same kind it reconstructs the rows approximately, even if it knows none of them and they are fewer than the features."
	gridReads        = "If the rows outnumber the features that vary, lattice reduction of the Gram matrix recovers these features without knowing any row, as with protocol okra."
	partyReads       = "One value that it knows of that party's rows gives it all of them, exactly."
	coalitionDivides = "Together with any party it reads the rows of all parties before that party, without an attack."
)

// Exposures returns how much of the rows of others each role can reconstruct. The keys and sentences
// also occur in [Leakage]. The broker, who reads no rows, has no entry.
func Exposures(f Facts) map[string]protocol.Exposure {
	server := protocol.Exposure{Reach: protocol.ReachPart, Why: kinReads}
	if f.Grid {
		server.Why = gridReads
	}
	if f.Dependent {
		server.Reach = protocol.ReachAll
	}
	return map[string]protocol.Exposure{
		"server":    server,
		"party":     {Reach: protocol.ReachAll, Why: partyReads},
		"coalition": {Reach: protocol.ReachAll, Why: coalitionDivides},
	}
}

// Leakage describes in plain words what each role learns in this job beyond its own data and the
// result. The keys are "server", "party", "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	first, last := f.Parties[0], f.Parties[len(f.Parties)-1]
	server := []string{
		"The server learns how many rows each party has and which of them are held out.",
		fmt.Sprintf("It learns the complete linear Gram matrix of all %d rows: norms, distances, duplicates, clusters and outliers, whether two parties hold the same row, and with it every kernel, not only the agreed one.", f.TotalRows),
		"From p rows that the server knows from elsewhere it computes the projection of every other row onto their span.",
		kinReads + " With protocol okra this gave 86 % of the variance of 280 standardised tumours.",
		"Besides the matrix it learns the three masked products of every two parties. How much they reveal beyond the matrix has not been examined.",
	}
	if f.Labels {
		server = append(server, "It learns the label of every row, held-out rows included.")
	}
	if f.Grid {
		server = append(server, "Some or all features hold values on a grid. "+gridReads)
	}
	return map[string][]string{
		"server": server,
		"party": {
			"Protocol escaped protects no party from the parties after it in the job's list: it is here for comparison only.",
			fmt.Sprintf("From every party before it, a party receives the rows minus a mask, and the mask times one unknown number. %s If the rows have a background of zeros, it needs to know none. So every other party can read the rows of %s. No party can read the rows of %s by this attack.", partyReads, first, last),
			"A party learns how many rows each other party has.",
		},
		"coalition": {
			"The server knows the number that multiplies a party's mask. " + coalitionDivides + " A party's own rows are known rows: if as many of them are independent as there are features, the server and that party read the rows of all parties from the Gram matrix.",
		},
		"broker": {
			"The broker sees who sends to whom, when and how much. From the amounts it can compute every party's number of rows and features. It sees no content: messages are sealed end to end.",
		},
	}
}

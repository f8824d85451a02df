package fdskl

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/protocol"
)

// Facts holds the properties of a job on which its leakage depends.
type Facts struct {
	Mode       Mode
	Workers    int
	Active     int // number of active workers; Workers includes them
	Rows       int
	Directions int
	Exposure   Exposure // zero if the exposure has not been measured. The measurement needs the columns of all workers
}

// Leakage returns sentences that describe what each role learns in this job beyond its own data and
// the result. The keys are "active", "passive", "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"active":    activeLeakage(f),
		"passive":   passiveLeakage(f),
		"coalition": coalitionLeakage(f),
		"broker": {
			"The broker sees who sends to whom, when and how much. From the amounts it can compute rows times directions, and the tree. It sees no content: messages are sealed end to end.",
		},
	}
}

// Sentences of the statement that say who can reconstruct rows.
const (
	paperReads      = "Mode paper shares the directions, so phases are equations with known coefficients: the active worker solves them for every column of every other worker, exactly."
	knownRead       = "An active worker that knows some rows from elsewhere can turn distances into data."
	latticeReads    = "Values on a grid (whole numbers, counts, codes) need no known row: if rows outnumber the others' columns, lattice reduction of the phases that do not wrap around gives such values exactly, up to the order of the columns and sign. Nobody says whether the others' columns hold such values, so assume that they do."
	passiveAdds     = "The words that it adds up are uniformly random to it."
	paperNeighbours = "In mode paper the trees protect against single workers only: two neighbours in a tree may together read the values that a third worker sends."
	coalitionSums   = "The active worker together with passive workers learns the sum of the remaining workers' phases, however few these are, and so the distances over their columns, and their values on a grid."
)

// Exposures returns how much of the rows of others each role can reconstruct. The keys and sentences
// also occur in [Leakage]. The broker, who reads no rows, has no entry. No member that computes the
// exposures knows whether the others' columns hold values on a grid, so the exposures assume that
// they do.
func Exposures(f Facts) map[string]protocol.Exposure {
	list := map[string]protocol.Exposure{
		"active":    {Reach: protocol.ReachAll, Why: latticeReads},
		"passive":   {Reach: protocol.ReachNone, Why: passiveAdds},
		"coalition": {Reach: protocol.ReachAll, Why: coalitionSums},
	}
	if f.Mode == Paper {
		list["active"] = protocol.Exposure{Reach: protocol.ReachAll, Why: paperReads}
		list["coalition"] = protocol.Exposure{Reach: protocol.ReachAll, Why: paperNeighbours}
	}
	return list
}

// knownRows holds the percentages of entries that the attack with known rows recovers
// (TestKnownRowsGiveTheOthers).
const knownRows = "94.0, 99.1 and 98.9"

func activeLeakage(f Facts) []string {
	lines := []string{
		fmt.Sprintf("For each row in training or prediction, the active worker learns the sum of all workers' phases in up to %d directions. By subtracting its own it learns the sum of the others'.", f.Directions),
		fmt.Sprintf("These sums give the kernel of any two rows over the others' columns taken together, and so the distance of the rows: each value to about %.3f.", 1/math.Sqrt(2*float64(f.Directions))),
	}
	if e := f.Exposure; e.Pairs > 0 {
		lines = append(lines, fmt.Sprintf("Measured on %d pairs of this job's rows: a correlation of %.3f with the true kernel values, and a deviation of %.4f.", e.Pairs, e.Correlation, e.Deviation))
	}
	lines = append(lines, fmt.Sprintf(knownRead+" On 34 one-hot columns of the phishing data, with 2,048 directions, 20, 40 and 80 known rows of 400 gave %s %% of the entries of the other rows.", knownRows),
		latticeReads+" On 400 of the bundled digits, with 2,048 directions, this gave all 14 pixels that vary of a worker with 16 pixels, at gamma .1 and .5, and at least 24 of 27 of a worker with 32, at gamma .1.")
	if f.Workers == 2 {
		lines = append(lines, "With two workers there is only one other: the active worker learns the passive worker's own phases, and all of the above about that worker alone. No protocol with this output can prevent it.")
	}
	if f.Active > 1 {
		lines = append(lines, fmt.Sprintf("Each of the %d active workers learns this for its own directions, and the other active workers' parts of the model's value at every row that it requests.", f.Active),
			partsOf(f.Mode))
	}
	if f.Mode == Paper {
		lines = append(lines, paperReads+" Use it for reproduction only.")
	}
	return lines
}

// partsOf describes what an active worker infers from another one's parts of the model's value.
func partsOf(m Mode) string {
	if m == Paper {
		return "In mode paper these parts are linear equations for the other workers' coefficients: an active worker that has twice as many parts as another one has directions solves them for all of its coefficients."
	}
	return "From many such parts an active worker can estimate the norm of another one's coefficients, and with two directions the size of each."
}

func passiveLeakage(f Facts) []string {
	lines := []string{
		fmt.Sprintf("A passive worker learns who takes part, how many rows are aligned (%d), and when each of them is requested. %s", f.Rows, passiveAdds),
		"It does not learn the labels, the model, or any decision.",
	}
	if f.Mode == Paper {
		lines = append(lines, "In mode paper it knows all directions, but no other worker's phases.")
	}
	return lines
}

func coalitionLeakage(f Facts) []string {
	if f.Mode == Paper {
		return []string{
			paperNeighbours,
		}
	}
	lines := []string{
		coalitionSums + " It learns nothing else about them.",
	}
	if f.Workers > 2 {
		lines = append(lines, fmt.Sprintf("If all but one of the %d workers collude, that sum is the remaining worker's own phases.", f.Workers))
	}
	return append(lines, "Passive workers together, without the active worker, learn nothing about the others' columns.")
}

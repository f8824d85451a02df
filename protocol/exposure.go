package protocol

// Reach says how much of other members' rows a role can reconstruct.
type Reach string

// The values of Reach, from the least to the greatest.
const (
	ReachNone Reach = "no"      // no value of a row
	ReachPart Reach = "in part" // some values, approximate values, or values of people whom the role partly knows
	ReachAll  Reach = "yes"     // all values of the rows
)

// level returns the position of a reach in the order of the constants.
func (r Reach) level() int {
	switch r {
	case ReachNone:
		return 0
	case ReachPart:
		return 1
	}
	return 2 // assume the most of an unknown reach
}

// Exposure says how much of other members' rows a role can reconstruct, and why. The field Why is a
// sentence of the role's leakage statement.
type Exposure struct {
	Reach Reach  `json:"rows"`
	Why   string `json:"why"`
}

// Exceeds reports whether the exposure e reaches further than the other exposure.
func (e Exposure) Exceeds(other Exposure) bool { return e.Reach.level() > other.Reach.level() }

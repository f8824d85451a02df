package stage

// Roles of a leakage statement, in the order in which they are read.
func Roles() []string {
	return []string{"server", "leader", "active", "passive", "party", "coalition", "broker"}
}

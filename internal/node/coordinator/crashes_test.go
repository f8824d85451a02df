//go:build !slow

package coordinator_test

// brokerPoints is every third of crashPoints: a life over a broker takes longer.
func brokerPoints(name string, ops []string, seen map[string]bool) (points []int) {
	for i, n := range crashPoints(name, ops, seen) {
		if i%3 == 1 {
			points = append(points, n)
		}
	}
	return points
}

// crashPoints returns the first operation of each kind that is not seen yet; the
// slow tests take all. What a party does is another kind than what the coordinator
// does.
func crashPoints(name string, ops []string, seen map[string]bool) (points []int) {
	for i, op := range ops {
		if name == hub {
			op = "hub: " + op
		}
		if !seen[op] {
			points = append(points, i)
		}
		seen[op] = true
	}
	return points
}

//go:build !slow

package coordinator_test

import (
	"slices"
	"strings"
)

// brokerPoints is every third of crashPoints: a life over a broker takes longer.
func brokerPoints(name string, ops []string, seen map[string]bool) (points []int) {
	for i, n := range crashPoints(name, ops, seen) {
		if i%3 == 1 {
			points = append(points, n)
		}
	}
	return points
}

// sendsOf takes of crashPoints those before messages of the protocols that it names. What every
// job does beside them is killed by TestCrashAnywhereEndsInTheSameModel.
func sendsOf(protocols ...string) pick {
	return func(name string, ops []string, seen map[string]bool) []int {
		return slices.DeleteFunc(crashPoints(name, ops, seen), func(n int) bool {
			protocol, _, _ := strings.Cut(strings.TrimPrefix(ops[n], "send "), "/")
			return !slices.Contains(protocols, protocol)
		})
	}
}

// crashPoints returns the first operation of each kind that was not seen before; the slow tests take
// all. Operations of a party and of the coordinator are different kinds.
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

// tried is the first of several kinds of a trouble.
func tried[T any](kinds []T) []T { return kinds[:1] }

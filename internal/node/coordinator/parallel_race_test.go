//go:build race

package coordinator_test

// beside is one with the race detector, which computes all the time.
const beside = 1

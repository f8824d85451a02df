//go:build !race

package coordinator_test

// beside is how many tests run beside each other for each processor.
const beside = 4

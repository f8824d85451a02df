//go:build slow

package demo_test

const killRuns, killsPerRun = 10, 3

//go:build !slow

package demo_test

// Every test run kills three processes; the slow tier kills thirty.
const killRuns, killsPerRun = 1, 3

//go:build slow

package coordinator_test

func brokerPoints(_ string, ops []string, _ map[string]bool) []int { return span(0, len(ops)) }

func crashPoints(_ string, ops []string, _ map[string]bool) []int { return span(0, len(ops)) }

func sendsOf(...string) pick { return crashPoints }

func tried[T any](kinds []T) []T { return kinds }

package sums_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/sums"
)

// A job that names no adversary withstands an active server, of whose clients some collude or drop out.
func TestServersAreActiveByDefault(t *testing.T) {
	const text = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data: {source: ratings.csv, partition: {by: devices}, test: {every: 10}}
  protocol: {name: fedcfk}
  kernel: {name: linear}
  learner: {name: cf-komd}
`
	for keys, want := range map[string]sums.Keys{
		"": {Adversary: sums.Active, Corrupted: .05, Dropped: .1},
		", adversary: semi-honest, corrupted: 0.2, dropped: 0": {Adversary: sums.SemiHonest, Corrupted: .2},
	} {
		j := jobtest.Parse(t, strings.Replace(text, "fedcfk", "fedcfk"+keys, 1))
		if d := cmp.Diff(want, *sums.Of(j)); d != "" {
			t.Errorf("fedcfk%s: %s", keys, d)
		}
	}
}

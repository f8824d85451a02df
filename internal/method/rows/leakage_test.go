package rows_test

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

const schemaJob = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: small
    label: label
    partition: {parties: PARTIES}
    scale: standard
    schema:
      age: {range: [0, 120], missing: median}
      smoker: {type: category, categories: agree}
    TEST
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`

// If two parties train, each learns the other's sums; with three, no party learns another's. The
// statement names the released words and sums.
func TestLeakageOfAPreparation(t *testing.T) {
	const others = "each of the two learns the other's by subtracting its own"
	for _, tt := range []struct {
		parties, test string
		others        bool
		secure        bool // whether the statement says that nobody sees one party's numbers
	}{
		{"[north, south]", "test: {fraction: 0.25}", true, false},
		{"[north, south]", "test: {party: south}", false, false},
		{"[north, south, east]", "test: {fraction: 0.25}", false, true},
		{"[north, south, east]", "test: {party: east}", true, false},
		{"[north, south, east, west]", "test: {party: east}", false, true},
	} {
		j := jobtest.Parse(t, strings.NewReplacer("PARTIES", tt.parties, "TEST", tt.test).Replace(schemaJob))
		lines := make(map[string][]string)
		rows.Leakage(method.Instance{Job: j, Coordinator: "hub", Parties: j.Parties()}, lines, 0)
		party, leader := strings.Join(lines["party"], "\n"), strings.Join(lines["leader"], "\n")
		if sole := "Only north trains, and the other party learns sums over its training rows"; strings.Contains(party, sole) != (tt.test == "test: {party: south}") {
			t.Errorf("%s, %s: parties learn\n%s", tt.parties, tt.test, party)
		}
		if all := strings.Join(lines["coalition"], "\n"); strings.Contains(party, "Secure aggregation") != tt.secure || strings.Contains(all, "remaining party's sums") != tt.secure {
			t.Errorf("%s, %s: parties learn\n%s\n%s", tt.parties, tt.test, party, all)
		}
		if strings.Contains(party, others) != tt.others || !strings.Contains(party, "age (counts in 1024 parts of its range") {
			t.Errorf("%s, %s: parties learn\n%s", tt.parties, tt.test, party)
		}
		if !strings.Contains(leader, "which words of smoker each party has in at least 10") || !strings.Contains(strings.Join(lines["server"], "\n"), "It takes no part in fitting the preparation") {
			t.Errorf("%s, %s: the leader learns\n%s", tt.parties, tt.test, leader)
		}
	}
}

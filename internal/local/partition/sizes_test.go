package partition_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
)

// The cost of each step states every message that the members of a job send each other in this step,
// from the sizes of their tables alone.
func TestCostsStateTheMessagesOfAJob(t *testing.T) {
	for name, change := range map[string][]string{
		"wdbc":                        nil,
		"wdbc, moments":               {"name: okra, encoder: haar, wire: float64", `name: moments, classes: ["0", "1"]`, `name: svc, C: 10, tol: 1e-8, class_weight: {"0": 2}`, "name: ridge-classifier, alpha: [0.1, 1]"},
		"wdbc, flake":                 {"name: okra, encoder: haar, wire: float64", "name: flake"},
		"breast-cancer-vertical":      nil,
		"breast-cancer-vertical, two": {"parties: [clinic, laboratory, imaging]", "parties: [clinic, laboratory]", "  compare:", "  prediction: open\n  compare:"},
		"fdskl-wdbc":                  nil,
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("long")
			}
			example, _, _ := strings.Cut(name, ",")
			text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", example+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			checkCosts(t, jobtest.Parse(t, strings.NewReplacer(change...).Replace(string(text))))
		})
	}
}

// checkCosts runs a job, and compares the messages of each step with the step's cost.
func checkCosts(t *testing.T, j *job.Job) {
	t.Helper()
	shares, err := partition.Shares(j, func(job.Source, job.Data) (*dataset.Set, error) { return bundled.Load("wdbc") })
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := partition.SizesOf(j, shares)
	if err != nil {
		t.Fatal(err)
	}
	m, err := method.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	c, tables := methodtest.Instance(j), make(map[string]method.Table)
	for _, s := range shares {
		tables[s.Party] = s.Table
	}
	costs, err := m.Forecast(c, sizes)
	if err != nil {
		t.Fatal(err)
	}
	f := methodtest.New(t, m, c, tables)
	for i, cost := range costs {
		var meter protocoltest.Meter
		var chain protocoltest.Chain
		f.Watch = chain.Watch
		f.Observe = func(_ string, m protocol.Message) { meter.Count(m) }
		f.Step(t, i)
		if cost.Protocol != "" {
			meter.Check(t, cost.Cost, pairsOnly(cost))
			checkRounds(t, cost, chain.Longest)
		}
	}
}

// checkRounds compares the rounds of a cost with the longest chain of messages. A worker of fdskl may
// get a witness before it sends words that do not wait for it, so its chains can have one more.
func checkRounds(t *testing.T, c method.StepCost, longest int) {
	t.Helper()
	more := 0
	if c.Protocol == "fdskl" {
		more = 1
	}
	if longest < c.Rounds || longest > c.Rounds+more {
		t.Errorf("step %s: the longest chain has %d messages, and the cost states %d", c.Step, longest, c.Rounds)
	}
}

// pairsOnly leaves rounds and kinds out of the flows of a cost that states none.
func pairsOnly(c method.StepCost) func(protocol.Flow) protocol.Flow {
	if c.Flows[0].Kind != "" {
		return nil
	}
	return func(f protocol.Flow) protocol.Flow {
		f.Round, f.Kind = 0, ""
		return f
	}
}

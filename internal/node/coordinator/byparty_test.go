package coordinator_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// withheld lists of each party why there are no figures over its rows, "" where there are.
func withheld(list []learner.PartyFigures) string {
	var all []string
	for _, one := range list {
		all = append(all, one.Party+": "+one.Withheld)
	}
	return strings.Join(all, "; ")
}

// The result has figures over each party's own held-out rows if the policy of each table allows them
// and its limits are met. A party's permission survives the coordinator's death.
func TestFiguresOfEachParty(t *testing.T) {
	for _, protocol := range []string{"{name: okra}", "{name: flake}", "{name: escaped, mode: paper}"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			j := jobtest.Parse(t, strings.Replace(fmt.Sprintf(jobFile, ""), "{name: okra}", protocol, 1))
			ready := func(change func(w *testbed)) *testbed {
				w := newTestbed(t, tumours(t, j))
				w.policy.Modes = []string{string(job.Hardened), string(job.Paper)}
				change(w)
				return w
			}
			denied := ready(func(*testbed) {}).mustRun(j).Result
			const none = "not allowed by its policy"
			if got := withheld(denied.Figures.ByParty); got != "north: "+none+"; south: "+none+"; east: "+none {
				t.Errorf("without a word in any policy: %s", got)
			}
			if said := fmt.Sprint(denied.Leakage); strings.Contains(said, "as the policy of each allows") {
				t.Error(said)
			}
			all := ready(func(w *testbed) { w.policy.OwnFigures = true }).mustRun(j).Result
			rows, right := 0, 0.0
			for _, one := range all.Figures.ByParty {
				rows, right = rows+one.HeldOut, right+one.Metrics["accuracy"]*float64(one.HeldOut)
			}
			if d := right/float64(rows) - all.Metrics["accuracy"]; rows != all.HeldOut || math.Abs(d) > 1e-12 || withheld(all.Figures.ByParty) != "north: ; south: ; east: " {
				t.Errorf("%+v of %d rows, accuracy %v", all.Figures.ByParty, all.HeldOut, all.Metrics["accuracy"])
			}
			if said := strings.Join(all.Leakage["party"], " "); !strings.Contains(said, "on the held-out rows of north, of south, of east alone") {
				t.Error(said)
			}
			for _, one := range []func(*party.Policy){func(p *party.Policy) { p.OwnFigures = false }, func(p *party.Policy) { p.Limits.HeldOutRows = new(50) }} {
				w := ready(func(w *testbed) {
					w.policy.OwnFigures = true
					south := w.policy
					one(&south)
					w.own = map[string]party.Policy{"south": south}
				})
				got := withheld(w.mustRun(j).Result.Figures.ByParty)
				const rest = "what others withhold would follow from it"
				if got != "north: "+rest+"; south: "+none+"; east: "+rest && got != "north: "+rest+"; south: too few rows; east: "+rest {
					t.Errorf("south keeps its figures back: %s", got)
				}
			}
			w := ready(func(w *testbed) { w.policy.OwnFigures = true })
			w.start(hub, onThe(3, "put report"))
			w.startAll()
			after := w.wait(w.submit(j))
			if after.Result == nil || cmp.Diff(all.Figures.ByParty, after.Result.Figures.ByParty) != "" {
				t.Errorf("after a restart: %+v, %+v", after.Failure, after.Result)
			}
		})
	}
}

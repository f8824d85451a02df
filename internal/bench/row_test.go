package bench

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRowsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name  string
		row   Row
		ratio float64
		rule  string
		pass  bool
	}{
		{"a rate that suffices", figure("", 70, "GFLOP/s").beside("", 100).atLeast(.7), .7, ratioAtLeast, true},
		{"a rate that does not", figure("", 69, "GFLOP/s").beside("", 100).atLeast(.7), .69, ratioAtLeast, false},
		{"a cost that is low", figure("", 7, "s").beside("", 2).atMost(3.5), 3.5, ratioAtMost, true},
		{"a cost that is not", figure("", 8, "s").beside("", 2).atMost(3.5), 4, ratioAtMost, false},
		{"six times faster", figure("", 5, "s").outruns("", 30).atLeast(6), 6, ratioAtLeast, true},
		{"five times faster", figure("", 6, "s").outruns("", 30).atLeast(6), 5, ratioAtLeast, false},
		{"an objective that agrees", figure("", -100, "").agrees("", -100).atMost(1e-6), 0, ratioAtMost, true},
		{"one that is better by too much", figure("", -110, "").agrees("", -100).atMost(.05), .1, ratioAtMost, false},
		{"one that is worse by too much", figure("", -90, "").agrees("", -100).atMost(.05), .1, ratioAtMost, false},
		{"in time, and slow beside the limit", figure("", 3, "s").beside("", 1).within(4), 3, valueAtMost, true},
		{"too late", figure("", 5, "s").beside("", 10).within(4), .5, valueAtMost, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := c.row.Ratio; d == nil || *d != c.ratio {
				t.Errorf("ratio %v, want %v", d, c.ratio)
			}
			if c.row.Rule != c.rule || *c.row.Pass != c.pass || c.row.Missed() == c.pass {
				t.Errorf("%s: pass %v, missed %v; want %s: %v", c.row.Rule, *c.row.Pass, c.row.Missed(), c.rule, c.pass)
			}
		})
	}
}

// A limit of 0 gives no ratio, and a target without a ratio is missed: a row must always
// marshal.
func TestNoLimitNoRatio(t *testing.T) {
	for _, r := range []Row{
		figure("", 1, "s").beside("", 0).atMost(1), figure("", 0, "s").beside("", 0).atLeast(0),
		figure("", 0, "s").outruns("", 1).atLeast(1), figure("", 1, "").agrees("", 0).atMost(1),
	} {
		if r.Ratio != nil || !r.Missed() {
			t.Errorf("ratio %v, missed %v", r.Ratio, r.Missed())
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
}

// The document has the keys that programs read, with null for values that do not apply.
func TestRowAsJSON(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want string
	}{
		{figure("copy", 31, "GB/s"), `{"name":"copy","value":31,"unit":"GB/s","against":"","limit":null,"ratio":null,"ratio_is":"","range":null,"cpu_ratio":null,"rule":"","target":null,"pass":null}`},
		{figure("dgemm", 75, "GFLOP/s").beside("loop", 100).byCPU(.5).atLeast(.5),
			`{"name":"dgemm","value":75,"unit":"GFLOP/s","against":"loop","limit":100,"ratio":0.75,"ratio_is":"value/limit","range":null,"cpu_ratio":0.5,"rule":"ratio \u003e= target","target":0.5,"pass":true}`},
	} {
		b, err := json.Marshal(c.row)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, string(b)); d != "" {
			t.Error(d)
		}
	}
}

package scale

import (
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The transcripts fix the bytes on the wire. A change in them is a new version
// of the protocol.
func TestTranscripts(t *testing.T) {
	narrow := []linalg.Matrix[float64]{
		table([]float64{1, 0.5, -2}, []float64{3, 0.25, -2}),
		table([]float64{2, 0.5, -2}),
		table([]float64{8, 1.5, -2}, []float64{4, 0.75, -2}, []float64{0, 0.5, -2}),
	}
	wide := []linalg.Matrix[float64]{ramp(2, 100, 1), ramp(3, 100, -1)}
	tests := []struct {
		file     string
		method   Method
		size     sizing
		tables   []linalg.Matrix[float64]
		schedule sim.Schedule
	}{
		{"minmax.txt", MinMax, bulk(), narrow, sim.Schedule{}},
		{"standard.txt", Standard, bulk(), narrow, sim.Schedule{}},
		{"chunks.txt", MinMax, sizing{chunk: 16, batch: 1}, wide, sim.Schedule{Window: 2}},
		{"rough.txt", Standard, bulk(), narrow, sim.Schedule{Seed: 4, Loss: 0.5, Duplicate: 0.5, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "p1", Event: 1}}}},
		{"ahead.txt", MinMax, sizing{chunk: 16, batch: 1}, append(wide, wide[0]), sim.Schedule{Window: 6, Gone: map[string]int{"p2": 2}}},
		{"missing.txt", MinMax, bulk(), narrow, sim.Schedule{Gone: map[string]int{"p2": 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			s := session(t, descriptor(tt.method, len(tt.tables), 1))
			var all []Statistics
			for _, rows := range tt.tables {
				all = append(all, summary(t, rows, tt.method))
			}
			r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, all, tt.size), Schedule: tt.schedule})
			if err != nil {
				t.Fatal(err)
			}
			protocoltest.Golden(t, tt.file, r.Transcript())
		})
	}
}

// ramp returns a table whose values are exact in binary.
func ramp(n, f int, slope float64) linalg.Matrix[float64] {
	m := linalg.New[float64](n, f)
	for i := range m.Data {
		m.Data[i] = slope * float64(i) / 8
	}
	return m
}

func TestLeakage(t *testing.T) {
	tests := []struct {
		name  string
		facts Facts
		want  map[string][]string // parts of what each role learns
		never string
	}{
		{"minmax", Facts{MinMax, "north", 3, 64, 0}, map[string][]string{
			"leader": {"north, learns how many rows each other party has", "64 columns", "real value of some row"},
			"party":  {"least and the greatest value", "real value of a row elsewhere."},
			"server": {"learns nothing"},
			"broker": {"1 to 64 columns"},
		}, "the one other party"},
		{"standard", Facts{Standard, "north", 2, 65, 40}, map[string][]string{
			"leader": {"the mean and the standard deviation"},
			"party":  {"guesses the other's number of rows"},
			"broker": {"65 to 128 columns"},
		}, "real value"},
		{"one row", Facts{MinMax, "north", 2, 3, 1}, map[string][]string{
			"leader": {"A party with a single row sends that row itself."},
			"party":  {"a row of the one other party"},
		}, "smallest party"},
		{"two rows", Facts{Standard, "north", 3, 3, 2}, map[string][]string{"leader": {"reveals both values"}}, "single row"},
		{"few rows", Facts{MinMax, "north", 3, 3, 9}, map[string][]string{"leader": {"The smallest party has 9 rows: for each column it reveals 2 of its 9 values."}}, "single row"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := make(map[string]string)
			for who, lines := range Leakage(tt.facts) {
				got[who] = strings.Join(lines, "\n")
			}
			if len(got) != 5 || got["coalition"] == "" {
				t.Errorf("keys of %v, want leader, party, coalition, server and broker", got)
			}
			for who, parts := range tt.want {
				for _, part := range parts {
					if !strings.Contains(got[who], part) {
						t.Errorf("%s: %q lacks %q", who, got[who], part)
					}
				}
			}
			for who, text := range got {
				if strings.Contains(text, tt.never) {
					t.Errorf("%s: %q should not say %q", who, text, tt.never)
				}
			}
		})
	}
}

// The leakage text says that the broker sees a power of two: compare it with the messages.
func TestSizesHideTheWidth(t *testing.T) {
	sent := func(f int) int64 {
		s := session(t, descriptor(MinMax, 2, 0))
		all := []Statistics{summary(t, ramp(1, f, 1), MinMax), summary(t, ramp(1, f, 1), MinMax)}
		r, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, all, bulk())})
		if err != nil {
			t.Fatal(err)
		}
		return r.Edges[0].Bytes + r.Edges[1].Bytes
	}
	for _, f := range []int{1, 64, 65, 100, 20000} {
		low, high := widthsOfSameSize(f)
		if f < low || f > high || sent(low) != sent(f) || sent(high) != sent(f) {
			t.Errorf("%d columns: sizes differ within %d to %d", f, low, high)
		}
		if sent(high+1) == sent(f) {
			t.Errorf("%d columns: the range %d to %d is too narrow", f, low, high)
		}
	}
}

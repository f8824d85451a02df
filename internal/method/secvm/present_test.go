package secvm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// A result that was read back is worded as the one that was written.
func TestPresent(t *testing.T) {
	exact := true
	for name, tt := range map[string]struct {
		sums  []sums.Figures
		exact *bool
		text  string
		sent  string // in the head of the page
	}{
		"packages": {
			text: "9 devices train and 3 test; 4 windows of 6 packages of 40 bytes from each; 12 bins\n1 device had more",
			sent: "6 of 40 bytes from each device in each of 4 windows",
		},
		"sums": {
			[]sums.Figures{{Clients: 12, Added: 11, Holders: 5, Threshold: 3}}, &exact,
			"4 windows, each a secure sum of up to 6 packages of each; 12 bins\nall sums equal those of the plain packages, entry for entry: yes\n\n[table]\n1 device had",
			"1, the first of 11 of 12 devices; 5 holders, threshold 3",
		},
		"unchecked sums": {make([]sums.Figures, 1), nil, "12 bins\n[table]\n1 device", "1, the first of 0 of 0"},
	} {
		r := &method.Result{Exact: tt.exact, Details: &Details{&Figures{
			Source: "words.svm", Trainers: 9, Testers: 3, Windows: 4, Packages: 6, PackageBytes: 40, Bins: 12, Sums: tt.sums, Sampled: 1, PooledC: .5,
			Classes: []ClassTest{{"ill", 3, 2}}, Majority: .75, Averages: []AveragePoint{{1, 1, .5}, {1, 2, .75}, {2, 1, 1}}, BinCurve: []BinPoint{{64, .5}},
		}}}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back := new(method.Result)
		if err := json.Unmarshal(b, back); err != nil {
			t.Fatal(err)
		}
		shown, err := present(read(t, windowJob), back)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, block := range shown.Text {
			if block.Header != nil {
				block.Line = "[table]"
			}
			lines = append(lines, block.Line)
		}
		text := strings.Join(lines, "\n")
		rest := "\nclass ill: 2 of 3 testing devices predicted right\nalways saying the larger class: accuracy 0.7500\nwith     64 bins: accuracy 0.5000\npooled: the best of eleven values of C on the held-out records, 0.5"
		if !strings.HasPrefix(text, "Data: words.svm\n") || !strings.Contains(text, tt.text) || !strings.HasSuffix(text, rest) {
			t.Errorf("%s: %s", name, text)
		}
		if got := shown.Summary[3].Value; !strings.HasPrefix(got, tt.sent) {
			t.Errorf("%s: sent %s", name, got)
		}
		if c := shown.Curves; len(c) != 2 || len(c[0].Steps) != 2 || len(c[0].Lines) != 2 || c[0].Lines[1].Name != "2 averaged" || c[1].Steps[0] != "64" {
			t.Errorf("%s: curves %+v", name, c)
		}
	}
	if shown, err := present(nil, &method.Result{Details: json.RawMessage(`{"crowd":{}}`)}); shown != nil || err != nil {
		t.Errorf("of another method: %v, %v", shown, err)
	}
}

func TestMajorityOf(t *testing.T) {
	for want, tests := range map[float64][]ClassTest{
		.75: {{"ill", 2, 2}, {"well", 6, 1}},
		.5:  {{"ill", 1, 0}, {"well", 1, 1}},
		.6:  {{"ill", 3, 0}, {"well", 2, 2}},
		0:   nil,
	} {
		if got := MajorityOf(tests); got != want {
			t.Errorf("%v: %v, want %v", tests, got, want)
		}
	}
}

// The first class has label -1 and the second +1.
func TestTestsOf(t *testing.T) {
	got := TestsOf([2]string{"well", "ill"}, [2]secvm.Outcome{{Total: 3, Correct: 1}, {Total: 5, Correct: 4}})
	if want := []ClassTest{{"well", 3, 1}, {"ill", 5, 4}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

package local

import (
	"os"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/secvm"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Devices draw by themselves whether they test, a quarter of them here. The result counts the tests of
// each class and those that the model predicts right, and has the share of the larger class.
func TestDevicesDrawTheirRoles(t *testing.T) {
	c := devicesConfig(t, anonymous)
	r := runDevices(t, c)
	roles, err := drawRoles(c)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.Models[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := secvm.DecodeLinearModel(b)
	if err != nil {
		t.Fatal(err)
	}
	tested, correct := make(map[string]uint64), make(map[string]uint64)
	for i, label := range c.rows.Labels {
		if roles[i] != secvmmachines.Test {
			continue
		}
		tested[label]++
		if m.Predict(secvm.Features(c.rows.X, i)) == label {
			correct[label]++
		}
	}
	s, all := figuresOf(t, r), tested["-1"]+tested["+1"]
	if all < 70 || all > 130 || s.Testers != int(all) || s.Trainers != 400-int(all) {
		t.Errorf("%d of 400 devices test, the result has %d, want about 100", all, s.Testers)
	}
	for _, class := range s.Classes {
		if class.Tested != tested[class.Class] || class.Correct != correct[class.Class] {
			t.Errorf("%v, want %d of %d", class, correct[class.Class], tested[class.Class])
		}
	}
	if want := float64(max(tested["-1"], tested["+1"])) / float64(all); len(s.Classes) != 2 || s.Majority != want {
		t.Errorf("%d classes, the larger one has %v, want %v", len(s.Classes), s.Majority, want)
	}
}

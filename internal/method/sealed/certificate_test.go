package sealed

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/report"
)

// A job that certifies its model says how far the sums of all parties are from its equations, and what that tells.
func TestCertificateOfAJob(t *testing.T) {
	for _, how := range []string{"printed", "required"} {
		j := digitsJob(t, "north, south, east", ", features: 32, certify: "+how)
		f := federate(t, j, deal(t, j, 100))
		f.Finish(t)
		f.LooksLikeNoise(t, "certificate")
		r := f.Result(t)
		c := r.Details.(*Details).Sealed.Certificate
		if c == nil || !c.Holds || c.Largest > c.Tolerance || c.Tolerance > .5 || !strings.HasPrefix(c.text(), "holds: ") {
			t.Fatalf("%+v", c)
		}
		if !slices.Contains(r.Leakage["server"], certificateTells) || !slices.Contains(r.Leakage["coalition"], madeUp) || !strings.Contains(r.Leakage["server"][0], "80 blurred sums of its check, 40 rounded sums of its certificate, and how many") {
			t.Errorf("%v", r.Leakage)
		}
		shown, err := present(j, r)
		if err != nil || len(shown.Notes) != 2 || shown.Notes[0] != "The certificate "+c.text()+"." || !slices.ContainsFunc(shown.More, func(r report.Row) bool { return r.Label == "Certificate" && r.Value == c.text() }) {
			t.Errorf("%+v, %v", shown, err)
		}
	}
	j := digitsJob(t, "north, south, east", ", features: 32")
	plan, err := Protocol().Plan(methodtest.Instance(j))
	if err != nil || slices.ContainsFunc(plan, func(s method.Step) bool { return s.Name == "certificate" }) {
		t.Errorf("a job without the key certifies: %v", err)
	}
}

// Two keepers open another model than the one that they have computed, to all parties or to one. The certificate does not
// hold; a job that requires it fails, and names nobody.
func TestCertificateOfAnotherModel(t *testing.T) {
	const missed = "the certificate does not hold: the opened weights miss the equations of the parties' own sums by "
	for name, tt := range map[string]struct {
		whom []string
		add  float64
		want string
	}{
		"all":       {[]string{"north", "south", "east"}, .05, missed},
		"one party": {[]string{"south"}, .05, missed},
		"too large": {[]string{"north", "south", "east"}, 1e9, "the certificate does not hold: the opened weights are larger than any rows make them"},
	} {
		for _, how := range []string{"printed", "required"} {
			j := digitsJob(t, "north, south, east", ", features: 32, certify: "+how)
			f := federate(t, j, deal(t, j, 100))
			f.Until(t, "sealed")
			for _, who := range tt.whom {
				f.Parties[who].opened.Data[7] += tt.add
			}
			err := f.Try(t.Context(), f.Index(t, "certificate"), func() {})
			switch {
			case how == "printed" && (err != nil || f.Server.certified.Holds || !strings.HasPrefix("the certificate "+f.Server.certified.text(), tt.want)):
				t.Errorf("%s: %v, %+v", name, err, f.Server.certified)
			case how == "required" && (err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "nobody is named")):
				t.Errorf("%s: %v", name, err)
			}
			for _, who := range j.Parties() {
				if err != nil && strings.Contains(strings.TrimPrefix(err.Error(), "certificate"), who) {
					t.Errorf("the error names %s: %v", who, err)
				}
			}
		}
	}
}

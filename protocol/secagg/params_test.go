package secagg

import (
	"math"
	"strings"
	"testing"
)

// A server content with any cohort would take its own clients and a few others: among 943
// clients, 47 of them corrupted, a cohort of 78 would give it 47 of the 74 holders of each.
// Clients insist on the agreed number.
func TestTheMinimumFollowsFromTheDropped(t *testing.T) {
	p, err := NewParams(spec(Active), 943)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Spec().Minimum; got != 849 || p.Cohort() != 849 {
		t.Errorf("the minimum of 943 clients, of whom 94 may vanish, is %d, at the beginning %d", got, p.Cohort())
	}
	s := spec(Active)
	s.Minimum = 900
	if p, err = NewParams(s, 943); err != nil || p.Spec().Minimum != 900 || p.Cohort() != 900 {
		t.Errorf("minimum %d, cohort %d, %v", p.Spec().Minimum, p.Cohort(), err)
	}
}

// Where many may vanish, a server that chooses who is there makes the corrupted
// ones a larger share; the cohort is large enough that little is lost.
func TestCohortKeepsSigma(t *testing.T) {
	for _, tt := range []struct {
		n              int
		gamma, delta   float64
		wantLess, want float64 // sigma with as many as survive, and with the cohort
	}{
		{943, .05, .1, 40, 32},
		{10_000, .05, .33, 11, 32},
		{10_000, .2, .2, 14, 32},
	} {
		c := Cohort{tt.n, tt.gamma, tt.delta, Active, 40, 20}
		d, err := c.Degree()
		if err != nil {
			t.Fatal(err)
		}
		all, least, few := c.sigmaOf(d, tt.n), c.sigmaOf(d, c.leastCohort(d)), c.sigmaOf(d, c.survivors())
		t.Logf("%d clients, k=%d, t=%d: sigma %.1f; %.1f with %d, %.1f with %d", tt.n, d.Holders, d.Threshold, all, least, c.leastCohort(d), few, c.survivors())
		if all < 40 || least < tt.want || few > tt.wantLess {
			t.Errorf("%d clients: sigma %.1f with all, %.1f with %d, %.1f with %d", tt.n, all, least, c.leastCohort(d), few, c.survivors())
		}
	}
	complete := Cohort{4, 0, .25, Active, 40, 20}
	d, err := complete.Degree()
	if err != nil || !d.Complete || complete.leastCohort(d) != 3 {
		t.Errorf("%+v, %v, at least %d", d, err, complete.leastCohort(d))
	}
	one := Cohort{10, .1, .2, Active, 40, 20}
	if exact := one.sigmaOf(Degree{Holders: 4, Threshold: 3}, 10); !math.IsInf(exact, 1) {
		t.Errorf("two stories need two corrupted holders of four, one corrupted client has sigma %v", exact)
	}
}

// Decoded parameters are complete: none is left to a default.
func TestParametersHaveOneEncoding(t *testing.T) {
	p, err := NewParams(spec(Active), 943)
	if err != nil {
		t.Fatal(err)
	}
	p.spec.Minimum = 2
	if _, err := DecodeParams(p.Encode()); err == nil {
		t.Error("a minimum below what follows is decoded")
	}
	s := spec(Active)
	s.Epoch = strings.Repeat("x", maxEpochBytes+1)
	if _, err := NewParams(s, 943); err == nil {
		t.Error("an epoch's name that cannot be decoded is accepted")
	}
}

package bench

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/privacypass"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// testedGateway returns a gateway with a few packages.
func testedGateway(t *testing.T) *postedGateway {
	t.Helper()
	t.Setenv(beMercer, "yes")
	g, err := newPostedGateway(t.Context(), all.Reader(), []string{os.Args[0]}, t.TempDir(), privacypass.BlindRSA, 6)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Refused packages have no rate, and letters that have been posted once can be posted in
// the next run.
func TestGatewayMustCount(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	g := testedGateway(t)
	var used float64
	measure := g.measured(&used, g.letters)
	for range 2 {
		if err := measure(t.Context()); err != nil || used <= 0 {
			t.Fatalf("%v s, %v", used, err)
		}
	}
	g.tokens[4].Authenticator[7] ^= 1
	var err error
	if g.letters, err = g.seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = g.measured(&used, g.letters)(t.Context())
	if err == nil || !strings.Contains(err.Error(), "package 4: the gateway refused the package with status 403") {
		t.Errorf("a forged token: %v", err)
	}
}

// A failure of the process is reported, and ends the measurement.
func TestGatewayProcessFails(t *testing.T) {
	var used float64
	g := testedGateway(t)
	if err := os.Remove(g.path("job.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := g.measured(&used, g.letters)(t.Context()); err == nil || !strings.Contains(err.Error(), "job.yaml") {
		t.Errorf("without a job: %v", err)
	}
	g.program = []string{g.path("mercer")}
	if err := g.measured(&used, g.letters)(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be started") {
		t.Errorf("without a program: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.seal(ended); err == nil {
		t.Error("sealed after the end")
	}
}

// A counter that loses a package is not measured.
func TestCounterMustCount(t *testing.T) {
	p, err := secvm.NewParams(secvm.Spec{Name: "bench", Bins: 16, Packages: 16, Cohort: 100})
	if err != nil {
		t.Fatal(err)
	}
	tally := secvm.NewTally(p)
	if err := tally.Add(trainingPackage(p, 3)); err != nil {
		t.Fatal(err)
	}
	if err := allCounted(tally, 1); err != nil {
		t.Error(err)
	}
	if allCounted(tally, 2) == nil {
		t.Error("a lost package is no error")
	}
	seen := 0
	if err := countWindow(p, t.TempDir(), 1000, func(n int) { seen = n }); err != nil || seen != 1000 {
		t.Errorf("told of %d packages: %v", seen, err)
	}
}

package protocoltest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/protocol"
)

func TestGreeters(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	Run(t, Protocol{Name: "greet", New: greetings("")})
}

// Every property must find the bugs for which it exists.
func TestSuiteCatches(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	tests := []struct{ property, bug, want string }{
		{"plain", "gets it wrong", "ann ends without an error, but with a wrong result"},
		{"plain", "uses a header twice", "the step uses the header twice"},
		{"plain", "sends what is refused", "refuses ann>bob greet.2 Aside"},
		{"schedules", "sends less in disorder", "fewer messages are sent"},
		{"schedules", "adds in the order of arrival", "greet.2 Roll has other bytes"},
		{"schedules", "takes any chunk", "ended with"},
		{"crashes", "ranges over a map", "other bytes than"},
		{"crashes", "draws outside its seed", "other bytes than"},
		{"input", "ignores the input", "node ann starts with a hash that is not the hash of its input"},
		{"forged", "checks no header", "the receiver does not refuse the message"},
		{"forged", "hears anybody", "the receiver does not refuse the message"},
		{"forged", "counts before it checks", "ended with: ann (silent)"},
		{"forged", "blames nobody", "refused without blame"},
		{"hostile", "panics on a short body", "the machine panicked: runtime error"},
		{"hostile", "changes before it checks", "the run after a refused message"},
		{"hostile", "blames nobody", "refused without blame"},
		{"slow", "floods", "bytes are allowed"},
		{"pace", "sleeps", "at most 5ms is allowed"},
		{"ended", "undead", "the machine accepts the event"},
		{"ended", "panics after the end", "the machine panics: over"},
		{"ended", "sends after the end", "the machine refuses the event, but returns effects"},
		{"ended", "forgets its result after the end", "after events that nodes received after their end"},
		{"silent", "goes on without the missing", "events: node ann ends without an error, but with a wrong result"},
		{"silent", "panics on an early timer", "with early timers"},
		{"silent", "blames the first", "no node blames the vanished node cy"},
		{"silent", "arms no timer", "waits forever"},
		{"silent", "blames the wrong one", "blames bob, which has not failed"},
		{"silent", "blames wrongly", `has kind "aborted"`},
	}
	caught := make(map[string]bool)
	for _, tt := range tests {
		t.Run(tt.property+"/"+tt.bug, func(t *testing.T) {
			c := greetings(tt.bug)(t)
			c.pace = pace{limit: 5 * time.Millisecond, tries: 2}
			err := c.testProperty(named(t, tt.property))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("property %s says %v, want %q", tt.property, err, tt.want)
			}
		})
		caught[tt.property] = true
	}
	for _, p := range properties() {
		if !caught[p.name] {
			t.Errorf("property %s has never been seen to fail", p.name)
		}
	}
}

func named(t *testing.T, name string) property {
	for _, p := range properties() {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no property is called %q", name)
	return property{}
}

// Unless the case trusts greetings, an altered greeting that changes the roll is an error.
func TestUndeclaredTrustIsFound(t *testing.T) {
	c := greetings("")(t)
	c.Trusts = nil
	err := c.testProperty(named(t, "hostile"))
	if err == nil || !strings.Contains(err.Error(), "with a wrong result") {
		t.Errorf("hostile says %v, want the changed result", err)
	}
}

func TestUnboundedFlightIsFound(t *testing.T) {
	c := greetings("")(t)
	c.InFlight = greetingChunk
	if err := c.testProperty(named(t, "slow")); err == nil || !strings.Contains(err.Error(), "at most 64 bytes are allowed") {
		t.Errorf("slow says %v, want the bound", err)
	}
}

func TestNothingToTest(t *testing.T) {
	c := greetings("ignores the input")(t)
	for i := range c.Nodes {
		c.Nodes[i].InputHash, c.Nodes[i].Timers = [32]byte{}, nil
	}
	for _, name := range []string{"input", "silent"} {
		if err := c.testProperty(named(t, name)); !errors.Is(err, errNothing) {
			t.Errorf("%s says %v, want that there is nothing to test", name, err)
		}
	}
}

func TestIncompleteCase(t *testing.T) {
	for _, c := range []Case{{InFlight: 1}, {Check: func(string, protocol.Machine) error { return nil }}} {
		if err := c.testProperty(named(t, "plain")); err == nil {
			t.Error("a case without Check or InFlight is accepted")
		}
	}
}

func TestSampleIsFixedAndSpread(t *testing.T) {
	if got := sample(3, 10); len(got) != 3 {
		t.Errorf("sample(3, 10) = %v, want all three", got)
	}
	a, b := sample(1000, 10), sample(1000, 10)
	for i := range a {
		if a[i] != b[i] || i > 0 && a[i] <= a[i-1] {
			t.Fatalf("samples %v and %v: want the same, ascending", a, b)
		}
	}
}

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", "x.txt"), []byte("a\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	Golden(t, "x.txt", "a\nb\n")
	tests := []struct {
		got  string
		line int
	}{{"a\nb\n", 0}, {"a\nc\n", 2}, {"a\n", 2}, {"a\nb\nc\n", 3}, {"", 1}}
	for _, tt := range tests {
		if line, _, _ := firstDifference("a\nb\n", tt.got); line != tt.line {
			t.Errorf("firstDifference(%q) = %d, want %d", tt.got, line, tt.line)
		}
	}
}

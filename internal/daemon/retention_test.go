package daemon

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/node/audit"
)

// A clock that jumps by years erases nothing: the log says so once a day. Old lines of the record go when the clock can
// be trusted.
func TestAClockThatJumps(t *testing.T) {
	home, log := At(t.TempDir()), &logBuffer{}
	c := home.calendar(slog.New(slog.NewTextHandler(log, nil)))
	record, err := audit.Open(home.AuditPath())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := record.Append(audit.Event{Kind: audit.Started}); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	began, days := time.Now(), 0
	of := cutter{record, strictyaml.Days{Duration: 400 * day}, func() (time.Time, bool) { return c.at(began.Add(time.Duration(days) * day)) }, c.log}
	lines := func() int {
		s, err := audit.Verify(home.AuditPath(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.Lines - s.Cut
	}
	for _, step := range []struct{ days, left int }{{0, 3}, {3650, 3}, {3650, 3}, {1, 3}, {30, 3}, {3651, 3}} {
		days = step.days
		if of.cut(); lines() != step.left {
			t.Errorf("after %d days %d lines are left", days, lines())
		}
	}
	if n := strings.Count(log.String(), `msg="nothing is erased by age"`); n != 2 {
		t.Errorf("%d lines about the clock: %s", n, log.String())
	}
	for days = 31; days < 430; days += 30 { // the daemon runs all the time
		of.cut()
	}
	if lines() != 2 { // the last of the three, and one about the others
		t.Errorf("%d lines are left", lines())
	}
}

func TestRetentionInAConfiguration(t *testing.T) {
	c, err := config(t, "name: north\nretention: {models: 365d, predictions: 30d, results: 2y, audit: 10y, snapshots: end-of-job}\n")
	if err != nil || c.limits().Retention.Predictions.Duration != 30*24*time.Hour {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"retention:\n  models: 1y\n  logs: 30d\n":     `config.yaml:4: unknown key "logs"`,
		"retention:\n  models: 2y\n  audit: 30d\n":    `config.yaml:4: "audit" in "retention" is shorter than a year`,
		"retention:\n  snapshots: 1d\n":               `config.yaml:3: "snapshots" in "retention" is`,
		"retention:\n  results: 1y\n  models: 400d\n": `config.yaml:4: "models" in "retention" is longer than "results"`,
		"retention:\n  models: soon\n":                `config.yaml:3: models is "soon"; write a time above zero, such as 30d`,
	} {
		if _, err := config(t, "name: north\n"+text); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

package retention

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/base/strictyaml"
)

const day = 24 * time.Hour

func parsed(text string) (t Times, err error) {
	into := struct {
		Retention Times `yaml:"retention"`
	}{}
	err = strictyaml.Decode([]byte(text), &into)
	return into.Retention, err
}

func TestTimes(t *testing.T) {
	const whole = "retention: {models: 365d, predictions: 30d, results: 2y, audit: 10y, snapshots: end-of-job}"
	got, err := parsed(whole)
	if err != nil || got.Check() != nil || got.Models.Duration != 365*day || got.Predictions.Duration != 30*day || got.Results.Duration != 730*day || got.Audit.Duration != 3650*day {
		t.Errorf("%+v, %v", got, err)
	}
	b, err := yaml.Marshal(map[string]Times{"retention": got})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := parsed(string(b)); err != nil || again != got {
		t.Errorf("%s: %+v, %v", b, again, err)
	}
	if one, err := parsed("retention: 30d"); err != nil || one.Models.Duration != 30*day || one.Predictions != one.Models || one.Results != one.Models || one.Audit.Duration != 0 {
		t.Errorf("%+v, %v", one, err)
	}
	for text, want := range map[string]string{
		"retention: {logs: 30d}":                     `unknown key "logs"`,
		"retention:\n  models: 1y\n  ledger: 10y":    `unknown key "ledger"`,
		"retention: {models: 0d}":                    "write a time above zero",
		"retention: {snapshots: 30d}":                `"snapshots" in "retention" is "30d"; write "end-of-job"`,
		"retention: {audit: 364d}":                   `"audit" in "retention" is shorter than a year`,
		"retention: {models: 2y, results: 1y}":       `"models" in "retention" is longer than "results"`,
		"retention: {predictions: 31d, models: 30d}": `"predictions" in "retention" is longer than "models"`,
		"retention: {models: 999999999y}":            "write a time above zero",
	} {
		got, err := parsed(text)
		if err == nil {
			err = got.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDue(t *testing.T) {
	now, limit := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), strictyaml.Days{Duration: 30 * day}
	if !Due(now.Add(-30*day), limit, now) || Due(now.Add(-30*day+time.Second), limit, now) || Due(now.Add(day), limit, now) || Due(time.Time{}, limit, now) || Due(now.Add(-9999*day), strictyaml.Days{}, now) {
		t.Error("due at another time")
	}
}

// Nothing is erased on the first day, after a jump, and on the day on which the clock is set back.
func TestTrust(t *testing.T) {
	d := Days(filepath.Join(t.TempDir(), "days"))
	at := func(s string) time.Time {
		when, err := time.Parse("2006-01-02 15", s)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, step := range []struct {
		now  string
		want bool
		jump bool
	}{
		{"2026-11-30 09", false, false},
		{"2026-11-30 23", false, false},
		{"2026-12-01 00", true, false},
		{"2026-12-01 10", true, false},
		{"2036-12-01 10", false, true}, // the clock is wrong
		{"2036-12-02 10", false, true},
		{"2026-12-03 10", true, false}, // and right again
		{"2027-01-03 09", true, false}, // 31 days off
		{"2027-02-04 09", false, true}, // 32 days off
		{"2026-06-01 09", false, false},
		{"2026-06-01 10", false, false},
		{"2026-06-02 09", true, false},
	} {
		got, err := d.Trust(at(step.now))
		var jump *JumpError
		if got != step.want || errors.As(err, &jump) != step.jump || err != nil && !step.jump {
			t.Fatalf("%s: %t, %v", step.now, got, err)
		}
		if step.jump && !strings.Contains(err.Error(), "nothing is erased by age until the clock is right. If it is right, remove "+string(d)) {
			t.Error(err)
		}
	}
	if err := os.Remove(string(d)); err != nil { // the operator says that the clock is right
		t.Fatal(err)
	}
	for now, want := range map[string]bool{"2030-01-01 09": false} {
		if got, err := d.Trust(at(now)); got != want || err != nil {
			t.Errorf("%s: %t, %v", now, got, err)
		}
	}
	if got, err := d.Trust(at("2030-01-02 09")); !got || err != nil {
		t.Errorf("%t, %v", got, err)
	}
	for _, text := range []string{"", "{", `{"first":"x","last":"2030-01-02"}`} {
		if err := os.WriteFile(string(d), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Trust(at("2050-01-01 09")); got || err != nil {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
}

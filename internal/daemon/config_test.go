package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

func config(t *testing.T, text string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadConfig(all.Reader(), path)
}

// How long things are kept is written in days or hours, and comes back as it was
// written; without a word the party's own limits hold.
func TestTimesInAConfiguration(t *testing.T) {
	c, err := config(t, "name: north\nretention: 30d\nunclosed: 12h\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.limits(); got.Retention != 30*24*time.Hour || got.Unclosed != 12*time.Hour {
		t.Errorf("%+v", got)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := c.save(path, roster.Party); err != nil {
		t.Fatal(err)
	}
	again, err := loadConfig(all.Reader(), path)
	if err != nil || again.Retention != c.Retention || again.Unclosed != c.Unclosed {
		t.Errorf("%+v, %v", again, err)
	}
	if c, err = config(t, "name: north\n"); err != nil || c.limits().Retention != 0 || c.limits().Unclosed != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := c.save(path, roster.Party); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "retention") {
		t.Errorf("%s, %v", b, err)
	}
	for text, want := range map[string]string{
		"retention: 30":         `config.yaml:2: "30" is no time; write days such as 30d, or hours such as 12h`,
		"retention: -3d":        "is no time",
		"unclosed: 0d":          "is no time",
		"unclosed: for ever":    "is no time",
		"unclosed: 99999999d":   "is no time",
		"retentoin: 30d":        "retention",
		"retention: [30d, 31d]": "is no time",
	} {
		if _, err := config(t, "name: north\n"+text+"\n"); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A home in a folder that everybody could read is closed to others, when it is made and
// when a daemon begins.
func TestHomesAreClosedToOthers(t *testing.T) {
	h := Home(t.TempDir())
	closed := func(when string) {
		t.Helper()
		info, err := os.Stat(string(h))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", when, info.Mode(), err)
		}
	}
	if err := os.Chmod(string(h), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Create(all.Reader(), &Config{Name: "north"}, "party", [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	closed("made")
	if err := os.Chmod(string(h), 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := h.lockHome()
	if err != nil {
		t.Fatal(err)
	}
	closed("taken")
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
}

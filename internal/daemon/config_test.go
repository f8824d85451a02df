package daemon

import (
	"errors"
	"io/fs"
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
	if got := c.limits(); got.Retention.Models.Duration != 30*24*time.Hour || got.Unclosed != 12*time.Hour {
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
	if c, err = config(t, "name: north\n"); err != nil || !c.limits().Retention.IsZero() || c.limits().Unclosed != 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := c.save(path, roster.Party); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "retention") {
		t.Errorf("%s, %v", b, err)
	}
	for text, want := range map[string]string{
		"retention: 30":         `config.yaml:2: retention is "30"; write a time above zero, such as 30d, 12h or 90s`,
		"retention: -3d":        "write a time above zero, such as",
		"unclosed: 0d":          "write a time above zero, such as",
		"unclosed: for ever":    "write a time above zero, such as",
		"unclosed: 99999999d":   "write a time above zero, such as",
		"retentoin: 30d":        "retention",
		"retention: [30d, 31d]": "write a time above zero, such as",
	} {
		if _, err := config(t, "name: north\n"+text+"\n"); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// An answer names the line of the setting that it is about, however the mistake was found.
func TestConfigurationsNameTheLine(t *testing.T) {
	const head = "name: north\ncoordinator: nats://127.0.0.1:4222\ndata:\n  first: {path: a.csv, policy: {protocols: [okra]}}\n  p:\n    path: p.csv\n    label: y\n"
	for text, want := range map[string]string{
		head + "    policy:\n      protocols: [orka]\n":                         `config.yaml:9: data p: "protocols" in the policy names "orka"`,
		head + "    policy:\n      min_parties: -2\n":                           "config.yaml:9: data p: min_parties in the policy is -2; write 2 or more",
		head + "    policy:\n      limits:\n        rows: -1\n":                 "config.yaml:10: data p: \"rows\" in the policy's limits is -1",
		head + "    editions: yearly\n":                                         `config.yaml:8: data p: the setting "editions" is "yearly"`,
		head + "cells: {folder: x}\n":                                           `config.yaml:8: the setting "cells" is for coordinators; remove it`,
		"name: boss\nlisten: 127.0.0.1:1\ncells: {wait: 10m}\n":                 `config.yaml:3: the setting "cells" has no folder; write "cells: {folder: /shared/cells, wait: 10m}"`,
		"name: boss\ncells: {folder: x, wait: soon}\n":                          `config.yaml:2: wait is "soon"; write a time above zero`,
		"name: north\ncoordinator: http://x\n":                                  `config.yaml:2: the setting "coordinator": address`,
		head + "max_running_jobs: 2\n":                                          `config.yaml:8: the setting "max_running_jobs" is for coordinators; remove it`,
		"name: boss\nmax_running_jobs: 0\n":                                     `config.yaml:2: the setting "max_running_jobs" is 0; write a number from 1 to 256, or remove it for the default of 4`,
		"name: boss\nmax_running_jobs: 257\n":                                   `config.yaml:2: the setting "max_running_jobs" is 257; write a number from 1 to 256`,
		head + "listen_wss: 0.0.0.0:443\n":                                      `config.yaml:8: the setting "listen_wss" is for coordinators; remove it`,
		"name: boss\nlisten: 127.0.0.1:1\nlisten_wss: \"443\"\n":                `config.yaml:3: the setting "listen_wss" is "443"; write host:port such as 0.0.0.0:443`,
		"name: boss\nlisten_wss: :443\n":                                        `config.yaml:2: the setting "listen_wss" is ":443"; write host:port`,
		"name: boss\nlisten_wss: 0.0.0.0:https\n":                               `config.yaml:2: the setting "listen_wss" is "0.0.0.0:https"; write host:port`,
		"name: boss\nlisten: 0.0.0.0:443\nlisten_wss: 0.0.0.0:443\n":            `config.yaml:3: "listen_wss" and "listen" are both "0.0.0.0:443"; give each its own port`,
		head + "proxy: http://proxy.example:3128\n":                             `config.yaml:8: the setting "proxy" is for parties whose "coordinator" begins with tls:// or wss://`,
		"name: boss\nproxy: http://proxy.example:3128\n":                        `config.yaml:2: the setting "proxy" is for parties`,
		"name: n\ncoordinator: wss://h\nproxy: proxy.example:3128\n":            "config.yaml:3: the setting \"proxy\" is wrong: the address of the proxy is not valid; write http://HOST:PORT",
		"name: n\ncoordinator: wss://h\nproxy: https://proxy.example:3128\n":    "config.yaml:3: the setting \"proxy\" is wrong: the address of the proxy does not begin with http://",
		"name: data\n" + head[len("name: north\n"):] + "    editions: yearly\n": `config.yaml:8: data p: the setting "editions" is "yearly"`,
		head + "policy:\n  protocols: [orka]\n":                                 `config.yaml:9: "protocols" in the policy names "orka"`,
		head + "    policy:\n      min_parties: two\n":                          `config.yaml:9: min_parties is "two"; write a whole number`,
		head + "    names: [a]\n":                                               `config.yaml:8: unknown key "names" here; it belongs in csv`,
		head + "roles:\n  approver: {uids: [-1]}\n":                             `config.yaml:9: "approver" in "roles": uids has -1`,
		head + "roles: {approver: {users: [mara]}}\n":                           `config.yaml:8: "roles" names no administrator; add "administrator: {users: [NAME]}"`,
		head + "roles:\n  administrator: {uids: [0]}\n  folder: run\n":          `config.yaml:10: "folder" and "group" in "roles" belong together`,
		head + "roles: {auditor: {users: [mara]}}\n":                            `config.yaml:8: unknown key "auditor"`,
		head + "    csv: {delimiter: \";\"\n":                                   "this is not YAML",
	} {
		if _, err := config(t, text); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Without a configuration, or with a folder in its place, the answer says what to do.
func TestConfigurationThatIsMissing(t *testing.T) {
	folder := t.TempDir()
	if _, err := loadConfig(all.Reader(), filepath.Join(folder, "config.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v does not match fs.ErrNotExist", err)
	}
	for path, want := range map[string]string{
		filepath.Join(folder, "config.yaml"): "does not exist; create a home with mercer federation init, or restore the file from a backup",
		folder:                               "is not a file; restore it from a backup",
	} {
		if _, err := loadConfig(all.Reader(), path); fault.CodeOf(err) != fault.CodeBadInput || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A home in a folder that everybody could read is closed to others, when it is made and
// when a daemon begins.
func TestHomesAreClosedToOthers(t *testing.T) {
	h := At(t.TempDir())
	closed := func(when string) {
		t.Helper()
		info, err := os.Stat(h.folder)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", when, info.Mode(), err)
		}
	}
	if err := os.Chmod(h.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Create(all.Reader(), &Config{Name: "north"}, "party", [32]byte{1}); err != nil {
		t.Fatal(err)
	}
	closed("made")
	if err := os.Chmod(h.folder, 0o755); err != nil {
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

// A mistake in the address of a proxy is named without the password.
func TestProxyMistakesShowNoPassword(t *testing.T) {
	for _, proxy := range []string{"http://u:secret@h", "https://u:secret@h:1", "'http://u:sec ret@h:1'", "http://u:secret%zz@h:1", "[http://u:secret@h:1]", "{u: secret}"} {
		_, err := config(t, "name: north\ncoordinator: wss://h\nproxy: "+proxy+"\n")
		if fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "config.yaml:3: ") || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: %v", proxy, err)
		}
	}
}

// A coordinator that listens for WebSocket has a TLS key, also if it listens on loopback only.
func TestWebSocketMakesATLSKey(t *testing.T) {
	for _, c := range []struct {
		config Config
		key    bool
	}{
		{Config{Name: "boss", Listen: "127.0.0.1:4222"}, false},
		{Config{Name: "boss", Listen: "127.0.0.1:4222", ListenWSS: "127.0.0.1:443"}, true},
		{Config{Name: "boss", ListenWSS: "0.0.0.0:443"}, true},
	} {
		m, err := At(t.TempDir()).Create(all.Reader(), &c.config, roster.Coordinator, [32]byte{1})
		if err != nil || (len(m.TLS) > 0) != c.key {
			t.Errorf("%+v: %d bytes of key, %v", c.config, len(m.TLS), err)
		}
	}
}

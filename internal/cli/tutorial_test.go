package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/proxytest"
)

var (
	shBlock = regexp.MustCompile("(?ms)^```(sh|text)\\n(.*?)^```")
	figure  = regexp.MustCompile(`(?m)^together, by Mercer +\d+ +(\d\.\d{4})`)
)

// The commands of docs/operate.md that found a federation, run a job and change the roster, as they stand,
// do so and print what the page shows. Parties reach the coordinator through a proxy, which alone knows its
// name.
func TestOperate(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	wss := loopback(t)
	proxy := &proxytest.Proxy{Login: "north:secret", Names: map[string]string{"coordinator.example:443": wss}}
	if err := proxy.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	blocks, shown := blocksOf(t, "docs/operate.md"), 0
	for i, output := range tutorialOutputs(t, blocks, "LISTEN="+loopback(t), "LISTEN_WSS="+wss,
		"ADDRESS=wss://coordinator.example:443", "HTTPS_PROXY=http://"+proxy.Login+"@"+proxy.Addr()) {
		if b := blocks[i]; b.shown != "" {
			shown++
			if !b.shows(output) {
				t.Errorf("%s\nprinted\n%s\nand the page shows\n%s", b.commands, output, b.shown)
			}
		}
	}
	if len(blocks) != 9 || shown != 7 {
		t.Errorf("the page has %d blocks and shows %d outputs", len(blocks), shown)
	}
}

// masks replace what differs from one run to the next.
var masks = []struct {
	varies *regexp.Regexp
	mask   string
}{
	{regexp.MustCompile(`([0-9a-f]{4}-){7}[0-9a-f]{4}`), "FINGERPRINT"},
	{regexp.MustCompile(`\b([0-9a-f]{64}|[0-9a-f]{32})\b`), "HASH"},
	{regexp.MustCompile(`([a-z]{5}-){7}[a-z]{5}`), "WORDS"},
	{regexp.MustCompile(`time=\S+`), "TIME"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC`), "TIME"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`release sums [0-9a-f]{16}\b`), "release sums ID"},
	{regexp.MustCompile(`by user \d+`), "by user UID"},
	{regexp.MustCompile(`(127\.0\.0\.1|coordinator\.example):\d+`), "ADDRESS"},
	{regexp.MustCompile(`(together|alone|privacy)(, by \w+|, model only)? +\d+(?: +\d\.\d{4})+`), "$1$2 FIGURES"},
	{regexp.MustCompile(`(always answering \S+) +-(?: +\d\.\d{4})+`), "$1 FIGURES"},
	{regexp.MustCompile(`\bOn \d+ rows not`), "On COUNT rows not"},
	{regexp.MustCompile(`\(95 % interval: [0-9.]+ to [0-9.]+\)`), "INTERVAL"},
	{regexp.MustCompile(`\b[0-9.]+ %`), "SHARE"},
}

func masked(text string) string {
	for _, m := range masks {
		text = m.varies.ReplaceAllString(text, m.mask)
	}
	return text
}

// block is commands of the tutorial, and the output that it shows below them.
type block struct{ commands, shown string }

// blocksOf reads the blocks of a page, by its path from the root.
func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	var list []block
	for _, m := range shBlock.FindAllStringSubmatch(string(b), -1) {
		switch {
		case m[1] == "sh":
			list = append(list, block{commands: m[2]})
		case len(list) > 0:
			list[len(list)-1].shown = m[2]
		}
	}
	return list
}

// shows reports whether an output holds what a block shows at its end; [...] stands for anything.
func (b block) shows(output string) bool {
	want := strings.ReplaceAll(regexp.QuoteMeta(masked(b.shown)), regexp.QuoteMeta("[...]"), "(?s:.*)")
	return regexp.MustCompile(want + `\z`).MatchString(masked(output))
}

// tutorialOutputs runs all blocks in one bash, in an empty folder, with variables of the environment, and
// returns what each has printed.
func tutorialOutputs(t *testing.T, blocks []block, env ...string) []string {
	t.Helper()
	script, folder, out := "set -eu\n", t.TempDir(), t.TempDir()
	for i, b := range blocks {
		script += fmt.Sprintf("{\n%s} >%s/%d\n", b.commands, out, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	errors, err := cmd.CombinedOutput()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // daemons, where a command has failed
	}
	if err != nil {
		t.Fatalf("%v: %s", err, errors)
	}
	outputs := make([]string, len(blocks))
	for i := range blocks {
		b, err := os.ReadFile(filepath.Join(out, strconv.Itoa(i)))
		if err != nil {
			t.Fatal(err)
		}
		outputs[i] = string(b)
	}
	return outputs
}

// loopback returns an address that nobody listens on.
func loopback(t *testing.T) string {
	t.Helper()
	address, err := endpoint.Unused()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// The tutorial's commands, as they stand, end in a model and predictions, and print what it shows.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	blocks, shown, accuracy := blocksOf(t, "docs/tutorial.md"), 0, ""
	for i, output := range tutorialOutputs(t, blocks, "COORDINATOR="+loopback(t)) {
		if b := blocks[i]; b.shown != "" {
			shown++
			if !b.shows(output) {
				t.Errorf("%s\nprinted\n%s\nand the tutorial shows\n%s", b.commands, output, b.shown)
			}
		}
		if m := figure.FindStringSubmatch(output); m != nil {
			accuracy = m[1]
		}
	}
	if len(blocks) < 9 || shown < 8 {
		t.Errorf("the tutorial has %d blocks and shows %d outputs", len(blocks), shown)
	}
	if a, err := strconv.ParseFloat(accuracy, 64); err != nil || a < 0.85 {
		t.Errorf("accuracy %q", accuracy)
	}
}

// The README's commands print what it shows.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ran := 0
	for _, b := range blocksOf(t, "README.md") {
		args, is := strings.CutPrefix(strings.TrimSpace(b.commands), "go run ./cmd/mercer ")
		if !is {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "mercer", append(strings.Fields(args), "--out", t.TempDir())...)
		cmd.Dir = filepath.Join("..", "..")
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("mercer %s: %v", args, err)
		}
		if !b.shows(string(output)) {
			t.Errorf("mercer %s printed\n%s\nand the README shows\n%s", args, output, b.shown)
		}
	}
	if ran != 2 {
		t.Errorf("the README shows %d commands", ran)
	}
}

// What differs from the tutorial is found.
func TestTutorialShowsWhatIsPrinted(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, tt := range []struct {
		shown, printed string
		want           bool
	}{
		{"n1\till\n", "n1\till\n", true},
		{"n1\till\n", "n1\twell\n", false},
		{"n1\till\n", "n1\till\nn2\till\n", false},
		{"a\n[...]\nb\n", "a\nc\nd\nb\n", true},
		{"a\n[...]\nb\n", "a\nc\nd\n", false},
		{"job 0123456789abcdef0123456789abcdef\n", "job 0123456789abcdef0123456789abcde0\n", true},
		{"job 0123456789abcdef0123456789abcdef\n", "job 01234567\n", false},
		{"together, by Mercer   563    0.9840  0.9995\n", "together, by Mercer   571    0.8840  0.9095\n", true},
		{"On 191 rows not used for training, it is right for 98 %\n(95 % interval: 95 to 99); x\n", "On 207 rows not used for training, it is right for 97.9 %\n(95 % interval: 94.1 to 99.8); x\n", true},
		{"On 191 rows not used for training, it is right for 98 %\n", "On 191 rows used for training, it is right for 98 %\n", false},
		{"always answering ill     -    0.5742  0.5000\n", "always answering well    -    0.5742  0.5000\n", false},
		{"together, by Mercer   563    0.9840  0.9995\n", "north alone   571    0.8840  0.9095\n", false},
	} {
		if got := (block{shown: tt.shown}).shows(tt.printed); got != tt.want {
			t.Errorf("%q after %q: %t", tt.printed, tt.shown, got)
		}
	}
}

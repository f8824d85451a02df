package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// figures holds the results that decisions determine.
type figures struct {
	Hash    string             `json:"model_sha256"`
	Metrics map[string]float64 `json:"metrics"`
}

func (p process) figures(t *testing.T, line string) figures {
	t.Helper()
	s := p.mercer(t, line)
	var doc struct{ Result figures }
	if err := json.Unmarshal([]byte(s.stdout), &doc); err != nil || s.exit != 0 || doc.Result.Hash == "" {
		t.Fatalf("%v: %+v", err, s)
	}
	return doc.Result
}

// Machines without wide instructions have unchanged results, and with them okra's model is
// another one: the instructions of a child can be chosen.
func TestPlainResults(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("NOTHING IS COMPARED: plain Go rounds as on amd64 there only")
	}
	file := filepath.Join("testdata", "plain.json")
	got := make(map[string]figures)
	some := []string{"wdbc", "wdbc-gp", "okra-paper", "okra-svr", "gram-ridge", "fdskl-sources", "fdskl-block", "moments-gp", "moments-kpca", "fedcfk-films", "secvm-packages", "pooled-kmeans"}
	for _, r := range runs() {
		if !slices.Contains(some, r.name) {
			continue
		}
		p := newProcess(t, plain)
		if r.job != "" {
			p.write(t, r.name+".yaml", r.job)
		}
		got[r.name] = p.figures(t, r.commands[0])
	}
	if writes() {
		if err := os.WriteFile(file, []byte(encode(got)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var want map[string]figures
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if d := cmp.Diff(want, got); err != nil || d != "" || len(want) != len(some) {
		t.Errorf("%v, %d of %d, not as before:\n%s", err, len(want), len(some), d)
	}
	needsAVX2(t)
	if wide := newProcess(t, avx2).figures(t, "simulate examples/wdbc.yaml --insecure-seed 1 --json --out out"); wide.Hash == want["wdbc"].Hash {
		t.Error("the same model with and without wide instructions: they are not switched off")
	}
}

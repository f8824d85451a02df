package job_test

import (
	. "github.com/mercer-fl/mercer/internal/job"

	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncodeRoundTrip(t *testing.T) {
	for name, text := range variants() {
		t.Run(name, func(t *testing.T) {
			j, err := reader().Parse(name, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			checkRoundTrip(t, j)
		})
	}
}

func checkRoundTrip(t *testing.T, j *Job) {
	t.Helper()
	enc := j.Encode()
	r := reader().Knowing(func(string, string) (*Dictionary, error) { return j.Data.Dictionary, nil })
	again, err := r.Parse("encoded", enc)
	if err != nil {
		t.Fatalf("the canonical form is refused: %v\n%s", err, enc)
	}
	if d := cmp.Diff(j, again); d != "" {
		t.Errorf("decoding the canonical form gives another job:\n%s", d)
	}
	if twice := again.Encode(); !bytes.Equal(enc, twice) {
		t.Errorf("two canonical forms:\n%s\n%s", enc, twice)
	}
}

func TestEncodeIsCanonical(t *testing.T) {
	j, err := reader().Parse("full", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	const want = `apiVersion: mercer/v1
kind: Job
metadata:
  name: all-keys
spec:
  seed: 18446744073709551615
  data:
    sources:
      south: s.csv
      north: n.csv
    label: "5"
    id: patient
    test:
      every: 10
    scale: standard
  protocol:
    name: okra
    mode: paper
    encoder: block
    wire: float64
  kernel:
    name: polynomial
    gamma: 0.001
    coef0: 1
    degree: 2
  learner:
    name: svc
    C: 10
    tol: 1e-08
    class_weight:
      "0": 0.5
      yes: 2
  compare: [pooled, alone]
  prediction: open
  timeout:
    join: 1m30s
    round: 1h0m0s
    job: 36h0m0s
`
	if d := cmp.Diff(want, string(j.Encode())); d != "" {
		t.Error(d)
	}
}

func TestHashTellsJobsApart(t *testing.T) {
	seen := make(map[[32]byte]string)
	for name, text := range variants() {
		j, err := reader().Parse(name, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[j.Hash()]; twice {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[j.Hash()] = name
	}
	spaced := strings.ReplaceAll(minimal, "{name: okra}", "\n    name: 'okra' # the default encoder")
	a, _ := reader().Parse("a", []byte(minimal))
	b, err := reader().Parse("b", []byte(spaced))
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash() != b.Hash() {
		t.Error("layout changes the hash")
	}
}

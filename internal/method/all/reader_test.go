package all_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// head and tail stand around a protocol; it is in line 6.
const (
	head = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {source: own, label: label, partition: {PARTITIONparties: [north, south]}}
  protocol: `
	tail = `
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc}
`
)

func file(protocol string) string {
	partition := ""
	if strings.Contains(protocol, "gram") {
		partition = "by: columns, "
	}
	return strings.Replace(head, "PARTITION", partition, 1) + protocol + tail
}

// The name says which keys there are, wherever it stands among them.
func TestTheNameComesFirst(t *testing.T) {
	for one, other := range map[string]string{
		"{rounds: 4, wire: float64, name: okra}": "{name: okra, wire: float64, rounds: 4}",
		"{max_ids: 600, name: gram}":             "{name: gram, max_ids: 600}",
	} {
		a, errA := all.Reader().Parse("a.yaml", []byte(file(one)))
		b, errB := all.Reader().Parse("b.yaml", []byte(file(other)))
		if err := errors.Join(errA, errB); err != nil {
			t.Error(err)
		} else if a.Hash() != b.Hash() {
			t.Errorf("%s and %s are two jobs: %s, %s", one, other, a.Protocol.Text(), b.Protocol.Text())
		}
	}
}

func TestKeysOfAnother(t *testing.T) {
	var names []string
	for _, k := range all.Reader().Protocols {
		names = append(names, k.Name())
	}
	for protocol, want := range map[string]string{
		"{name: gram, encoder: haar}":      "protocol gram has no encoder; remove it",
		"{encoder: haar, name: gram}":      "protocol gram has no encoder; remove it",
		"{name: gram, encoder: no-such}":   "protocol gram has no encoder; remove it",
		"{name: okra, max_ids: 600}":       "protocol okra has no max_ids; remove it",
		"{name: pooled, mode: paper}":      "protocol pooled has no mode; remove it",
		"{name: moments, aggregation: 1}":  "protocol moments has no aggregation; remove it",
		"{name: okra, encoders: haar}":     `unknown key "encoders" in protocol; did you mean "encoder"?`,
		"{name: okra, max_idz: 600}":       `unknown key "max_idz" in protocol; it may have name, mode, encoder, wire, rounds, late, withdrawn, added, preparation, continuable, continues`,
		"{name: gram, max_idz: 600}":       `unknown key "max_idz" in protocol; did you mean "max_ids"?`,
		"{name: okra, name: gram}":         "name is given twice, first in line 6; keep one",
		"{nam: okra}":                      `unknown key "nam" in protocol; did you mean "name"?`,
		"{encoder: haar}":                  "protocol has no name; add \"name: okra\"",
		"{}":                               "protocol has no name; add \"name: okra\"",
		"{name: okrah}":                    `unknown protocol "okrah"; did you mean "okra"? This version has ` + strings.Join(names, ", "),
		"{name: [okra]}":                   "name is a list; this version takes one protocol",
		"[{name: okra}]":                   "protocol is a list; this version takes one map with name, and the keys of that protocol",
		"okra":                             `protocol is "okra"; it must be a map with name, and the keys of that protocol`,
		"{name: okra, ? {name: okra} : 1}": "a key of protocol is a map; it must be one of name, mode, encoder, wire, rounds, late, withdrawn, added, preparation, continuable, continues",
	} {
		_, err := all.Reader().Parse("job.yaml", []byte(file(protocol)))
		var bad *job.Error
		if !errors.As(err, &bad) || bad.Problem != want || bad.Line != 6 {
			t.Errorf("%s: %v, want line 6: %s", protocol, err, want)
		}
	}
}

func TestWith(t *testing.T) {
	r := all.Reader()
	j, err := r.Parse("job.yaml", []byte(file("{name: okra, wire: float64}")))
	if err != nil {
		t.Fatal(err)
	}
	before := string(j.Encode())
	for _, tt := range []struct {
		settings map[string]string
		refused  bool
		want     string // of the protocol, or of the error
	}{
		{nil, false, "okra, mode = hardened, encoder = hadamard, wire = float64, rounds = 3"},
		{map[string]string{"protocol.rounds": "5"}, false, "okra, mode = hardened, encoder = hadamard, wire = float64, rounds = 5"},
		{map[string]string{"protocol.wire": "", "protocol.encoder": "haar", "protocol.rounds": ""}, false, "okra, mode = hardened, encoder = haar, wire = float32"},
		{map[string]string{"protocol": "{name: gram, max_ids: 7}", "data.partition.by": "columns"}, false, "gram, mode = hardened, max_ids = 7"},
		{map[string]string{"protocol.wire": "float16"}, true, `unknown wire "float16"`},
		{map[string]string{"protocol.wire": "# none"}, true, `"# none" contains no YAML value`},
		{map[string]string{"protocol.wire": "["}, true, "did not find"},
		{map[string]string{"protocol.max_ids": "3"}, true, "protocol okra has no max_ids; remove it"},
		{map[string]string{"protocol": ""}, true, "spec has no protocol"},
	} {
		with, err := r.With(j, tt.settings)
		switch {
		case tt.refused && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%v: %v, want %s", tt.settings, err, tt.want)
		case !tt.refused && (err != nil || with.Protocol.Text() != tt.want):
			t.Errorf("%v gives %v (%v), want %s", tt.settings, with, err, tt.want)
		}
	}
	if after := string(j.Encode()); after != before {
		t.Errorf("the job itself has changed to\n%s", after)
	}
}

// A policy limits numbers by their keys; a protocol without such a key has no limit.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		name, keys      string
		ids, directions int
	}{
		{"okra", "{}", 0, 0},
		{"gram", "{max_ids: 600}", 600, 0},
		{"secvm", "{packages: 12}", 0, 0},
		{"fdskl", "{directions: 8}", 1 << 20, 8},
		{"fdskl", "{max_ids: 9, directions: 2}", 9, 2},
		{"moments", "{directions: 64}", 0, 64},
		{"moments", "{classes: [ill, well]}", 0, 0},
	} {
		p := jobtest.Protocol(t, tt.name)
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(tt.keys), &doc); err != nil {
			t.Fatal(err)
		}
		if err := p.Values.Section().Decode("", doc.Content[0]); err != nil {
			t.Fatal(err)
		}
		if ids, directions := p.Limit("max_ids"), p.Limit("directions"); ids != tt.ids || directions != tt.directions {
			t.Errorf("%s %s: limits %d and %d, want %d and %d", tt.name, tt.keys, ids, directions, tt.ids, tt.directions)
		}
	}
}

// Jobs that no federation can run are refused before anything begins.
func TestPlanRefuses(t *testing.T) {
	among := func(protocol string, parties ...string) error {
		j := jobtest.Parse(t, file("{name: okra}"))
		j.Protocol = jobtest.Protocol(t, protocol)
		m, err := method.Of(j)
		if err == nil {
			_, err = m.Plan(method.Instance{Job: j, ID: job.ID{1}, Coordinator: "hub", Parties: parties})
		}
		return err
	}
	for want, err := range map[string]error{
		"the job has 1 parties; name at least two": among("okra", "north"),
		"the coordinator hub cannot be a party":    among("okra", "north", "hub"),
		`protocol "pooled" cannot be run`:          among("pooled", "north", "south"),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A zero in place of a default that is not zero is read, written and read again.
func TestZeroesAreWritten(t *testing.T) {
	for learner, data := range map[string]string{
		"{name: svr, epsilon: 0}":          "{source: bundled:digits, label: label, partition: {parties: [north, south]}}\n  protocol: {name: okra}\n  kernel: {name: rbf, gamma: 0.1}",
		"{name: boosted-trees, lambda: 0}": "{source: bundled:wdbc, label: label, partition: {by: columns, parties: [north, south]}}\n  protocol: {name: secureboost, mode: paper}\n  kernel: {name: linear}",
	} {
		text := "apiVersion: mercer/v1\nkind: Job\nmetadata: {name: zero}\nspec:\n  data: " + data + "\n  learner: " + learner + "\n"
		j, err := all.Reader().Parse("job.yaml", []byte(text))
		if err != nil {
			t.Error(err)
			continue
		}
		again, err := all.Reader().Parse("job.yaml", j.Encode())
		if err != nil || !bytes.Equal(j.Encode(), again.Encode()) || !reflect.DeepEqual(j.Learner.Values, again.Learner.Values) {
			t.Errorf("%s becomes %+v (%v):\n%s", learner, again.Learner.Values, err, j.Encode())
		}
	}
}

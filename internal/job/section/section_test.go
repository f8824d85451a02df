package section_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/job/section/sectiontest"
)

// all has a key of each kind of value.
type all struct {
	Word, Name, Wire string
	Price, Share     float64
	Rounds           int
	Seed             uint64
	Open             bool
	Wait             time.Duration
	Baselines        []string
	Items            []string
	Range            [2]float64
	Weights          map[string]float64
	Inner            inner
}

type inner struct{ Tol float64 }

func (i *inner) Section() *section.Section {
	return &section.Section{Name: "inner", Fields: []section.Field{
		{Key: "tol", Value: section.Number{Dst: &i.Tol}, Default: "0.001", List: true, Doc: "The gap."},
	}}
}

func (a *all) Section() *section.Section {
	return &section.Section{Name: "all", Fields: []section.Field{
		{Key: "name", Value: section.DNSLabel{Dst: &a.Name}, Need: "add name: one", Doc: "The name."},
		{Key: "version", Value: section.Fixed("v1"), Default: "v1", Doc: "The version."},
		{Key: "word", Value: section.Text{Dst: &a.Word}, Else: "none", Doc: "A word."},
		{Key: "wire", Value: section.Choice[string]{Noun: "wire", Dst: &a.Wire, Known: []string{"float32", "float64"}}, Default: "float32", Doc: "The type."},
		{Key: "price", Value: section.Number{Dst: &a.Price}, Default: "1", List: true, Doc: "The price."},
		{Key: "share", Value: section.AlsoZero{Number: section.Number{Dst: &a.Share}, Counts: func() bool { return true }}, Default: "0.1", Doc: "The share."},
		{Key: "rounds", Value: section.Whole{Dst: &a.Rounds}, Default: "3", Doc: "The rounds."},
		{Key: "seed", Value: section.Natural{Dst: &a.Seed}, Default: "1", Doc: "The seed."},
		{Key: "open", Value: section.Yes{Dst: &a.Open}, Default: "false", Doc: "The door."},
		{Key: "wait", Value: section.Duration{Dst: &a.Wait}, Default: "90s", Doc: "The wait."},
		{Key: "baselines", Value: section.Choices[string]{Noun: "baseline", Dst: &a.Baselines, Known: []string{"pooled", "alone"}}, Default: "[alone]",
			Doc: "The baselines."},
		{Key: "items", Value: section.Words{Dst: &a.Items, Most: 2, Example: "[a, b]"}, Default: "[alien, brazil]", Doc: "The items."},
		{Key: "range", Value: section.Interval{Dst: &a.Range}, Default: "[0, 100]", Doc: "The range."},
		{Key: "weights", Value: section.Weights{Dst: &a.Weights}, Default: "{ill: 2}", Doc: "The weights."},
		{Key: "inner", Value: a.Inner.Section(), Default: "{}", Doc: "A section in a section."},
	}, Finish: func(in *section.Place) error { return in.Positive("price", a.Price) }}
}

func node(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func TestDefaults(t *testing.T) {
	sectiontest.Declared(t, func() section.Values { return new(all) }, "name: one")
	var a all
	if err := a.Section().Decode("all", node(t, "{name: one, price: 4, rounds: 5, weights: {}}")); err != nil {
		t.Fatal(err)
	}
	const want = "name = one"
	text := a.Section().String()
	for _, part := range []string{"version = v1", "wire = float32", "price = 4", "share = 0.1", "rounds = 5", "seed = 1", "wait = 1m30s",
		"baselines = [alone]", "items = [alien, brazil]", "range = [0, 100]", "inner = {tol: 0.001}"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
	if strings.Contains(text, "weights") || strings.Contains(text, want) {
		t.Errorf("%q has weights that the file took away, or a name with its key", text)
	}
}

// A word may stand in place of a map, and is written again.
func TestInstead(t *testing.T) {
	var in inner
	var none bool
	s := in.Section()
	s.Instead = &section.Instead{Word: "none", Given: &none}
	if err := s.Decode("inner", node(t, "none")); err != nil || !none || s.Encode().Value != "none" {
		t.Errorf("%v, given %v, written %v", err, none, s.Encode())
	}
	none = false
	err := s.Decode("inner", node(t, "nothing"))
	if want := `inner is "nothing"; it must be a map with tol, or none`; err == nil || !strings.Contains(err.Error(), want) || none {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := s.Decode("inner", node(t, "{tol: 2}")); err != nil || none || in.Tol != 2 {
		t.Errorf("%v, given %v, tol %v", err, none, in.Tol)
	}
}

// The line of a refusal is that of the innermost key on the way that the file has.
func TestLinesOfInnerKeys(t *testing.T) {
	for key, want := range map[string]int{"a": 1, "a.b": 2, "a.b.c": 3, "a.b.d": 2, "a.x.y": 1, "z": 1, "e": 4, "e.f": 4} {
		var got *section.Error
		s := section.Section{Name: "all", Fields: []section.Field{{Key: "a", Value: anything{}}, {Key: "e", Value: anything{}}},
			Finish: func(in *section.Place) error { return in.Refuse(key, "no") }}
		if err := s.Decode("all", node(t, "a:\n  b:\n    c: 1\ne: 2")); !errors.As(err, &got) || got.Line != want {
			t.Errorf("%s: %v, want line %d", key, err, want)
		}
	}
}

// anything takes every value.
type anything struct{}

func (anything) Decode(string, *yaml.Node) error { return nil }
func (anything) Encode() *yaml.Node              { return nil }
func (anything) Form() string                    { return "anything" }

// A key of an inner section is given only where the file has it, although it has a default.
func TestGivenInner(t *testing.T) {
	for text, want := range map[string]bool{"{inner: {tol: 1}}": true, "{inner: {}}": false, "{}": false, "{inner: [tol]}": false, "{tol: 1}": false} {
		asked := &section.Section{Name: "outer", Fields: []section.Field{{Key: "inner", Value: anything{}}, {Key: "tol", Value: anything{}}}, Finish: func(in *section.Place) error {
			if got := in.Given("inner.tol"); got != want {
				t.Errorf("%s: given %v", text, got)
			}
			return nil
		}}
		if err := asked.Decode("", node(t, text)); err != nil {
			t.Error(err)
		}
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"price: 2":                             "all has no name; add name: one",
		"name: one\nprice: -1":                 "price is -1; write a number above 0",
		"name: one\nprise: 1":                  `unknown key "prise" in all; did you mean "price"?`,
		"name: one\nname: two":                 "name is given twice, first in line 1; keep one",
		"name: one\nrounds: 1.5":               `rounds is "1.5", not a whole number; write one such as 3`,
		"name: one\nwire: float16":             `unknown wire "float16"; did you mean "float32"? This version has float32, float64`,
		"name: one\ninner: {tol: a}":           `tol is "a", not a number; write one such as 0.5`,
		"name: one\nitems: [a, b, c]":          "items has more than 2 entries; list fewer",
		"name: one\nweights: {ill: 0}":         `the weight of class "ill" is 0; write a number above 0`,
		"name: one\nrange: [1, 2, 3]":          "range is a list of 3; write two numbers such as [0, 100]",
		"name: one\nrange: [1]":                "range is a list of one; write two numbers such as [0, 100]",
		"name: one\nrange: []":                 "range is an empty list; write two numbers such as [0, 100]",
		"name: one\nrange: {}":                 "range is an empty map; write two numbers such as [0, 100]",
		"name: one\nrange: 3":                  `range is "3"; write two numbers such as [0, 100]`,
		"name: one\nwait: 0s":                  `wait is "0s"; write a time above zero and up to 720h, such as 90s or 10m`,
		"name: one\nopen: maybe":               `open is "maybe"; write true or false`,
		"name: one\nbaselines: [alone, alone]": "baselines names alone twice; keep one",
	} {
		var a all
		err := a.Section().Decode("all", node(t, text))
		var bad *section.Error
		if !errors.As(err, &bad) || bad.Problem != want || bad.Line != 1+strings.Count(text, "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLists(t *testing.T) {
	if got := new(all).Section().Lists(); len(got) != 1 || got[0] != "price" {
		t.Errorf("lists of numbers at %v", got)
	}
}

// A default that its own value refuses is the program's mistake.
func TestBadDefault(t *testing.T) {
	var a all
	s := a.Section()
	s.Fields[6].Default = "many"
	defer func() {
		if recover() == nil {
			t.Error("it was read")
		}
	}()
	_ = s.Decode("all", node(t, "name: one"))
}

package strictyaml

import (
	"errors"
	"io"
	"testing"
)

type inner struct {
	Decimal string `yaml:"decimal"`
	Deep    struct {
		Sign string `yaml:"sign"`
	} `yaml:"deep"`
}

type sample struct {
	Name   string           `yaml:"name"`
	Count  int              `yaml:"count"`
	Share  float64          `yaml:"share"`
	On     bool             `yaml:"on"`
	Words  []string         `yaml:"words"`
	Inside map[string]inner `yaml:"inside"`
	inner  `yaml:",inline"`
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]Error{
		"nam: x":                 {1, `unknown key "nam"; did you mean "name"?`},
		"\nzzzzzz: x":            {2, `unknown key "zzzzzz"; there are name, count, share, on, words, inside, decimal, deep, sign`},
		"sign: x":                {1, `unknown key "sign" here; it belongs under inside or deep`},
		"inside: {a: {name: x}}": {1, `unknown key "name" here; it belongs to an outer level`},
		"count: many":            {1, `found "many"; write a whole number`},
		"share: [1]":             {1, "found a list; write a number"},
		"on: perhaps":            {1, `found "perhaps"; write true or false`},
		"words: {a: b}":          {1, "found a map; write a list"},
		"name: [a]":              {1, "found a list; write one word"},
		"inside: [a]":            {1, "found a list; write a map"},
		"inside:\n  a: {deci: }": {2, `unknown key "deci"; there are name, count, share, on, words, inside, decimal, deep, sign`},
		"name: x\n---\nname: y":  {2, "something follows the first YAML document; write one document in a file"},
		"name: x\n---\n: :\n]":   {0, "something follows the first YAML document; write one document in a file"},
		"a: b: c":                {0, "this is not YAML: mapping values are not allowed in this context"},
	} {
		var s sample
		var got *Error
		if err := Decode([]byte(text), &s); !errors.As(err, &got) || *got != want {
			t.Errorf("%q: %+v, want %+v", text, err, want)
		}
	}
	if err := Decode(nil, &sample{}); !errors.Is(err, io.EOF) {
		t.Errorf("an empty text: %v", err)
	}
	var s sample
	if err := Decode([]byte("name: x\ndecimal: \",\""), &s); err != nil || s.Name != "x" || s.Decimal != "," {
		t.Errorf("%+v, %v", s, err)
	}
}

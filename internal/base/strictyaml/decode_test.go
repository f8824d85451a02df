package strictyaml

import (
	"errors"
	"io"
	"testing"

	"go.yaml.in/yaml/v3"
)

type inner struct {
	Decimal string `yaml:"decimal"`
}

type nested struct {
	Word string `yaml:"word"`
	In   *inner `yaml:"in"`
}

type sample struct {
	Name   string            `yaml:"name"`
	Count  int               `yaml:"count"`
	Bytes  int64             `yaml:"bytes"`
	Share  float64           `yaml:"share"`
	On     bool              `yaml:"on"`
	Wait   Days              `yaml:"wait"`
	Words  []string          `yaml:"words"`
	Inside map[string]nested `yaml:"inside"`
	CSV    struct {
		Sign string `yaml:"sign"`
	} `yaml:"csv"`
	inner `yaml:",inline"`
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]Error{
		"nam: x":                           {1, `unknown key "nam"; did you mean "name"?`},
		"\nzzzzzz: x":                      {2, `unknown key "zzzzzz"; known keys: name, count, bytes, share, on, wait, words, inside, csv, decimal`},
		"sign: x":                          {1, `unknown key "sign" here; it belongs in csv`},
		"count: many":                      {1, `count is "many"; write a whole number`},
		"bytes: 1GB":                       {1, `bytes is "1GB"; write a whole number`},
		"share: [1]":                       {1, "share is a list; write a number"},
		"on: perhaps":                      {1, `on is "perhaps"; write true or false`},
		"wait: 5":                          {1, `wait is "5"; write a time above zero, such as 30d, 12h or 90s`},
		"name: x\nwait: soon":              {2, `wait is "soon"; write a time above zero, such as 30d, 12h or 90s`},
		"words: {a: b}":                    {1, "words is a map; write a list"},
		"name: [a]":                        {1, "name is a list; write one word"},
		"inside: [a]":                      {1, "inside is a list; write a map"},
		"inside: {a: {word: {x: y}}}":      {1, "found a map; write one word"}, // three maps begin on this line
		"- a":                              {1, "found a list; write a map"},
		"inside: {a: {in: {decimal: []}}}": {1, "decimal is a list; write one word"},
		"inside:\n  a: {deci: }":           {2, `unknown key "deci"; known keys: word, in`},
		"name: x\nname: y":                 {2, `"name" is given twice; keep one`},
		"name: x\n---\nname: y":            {2, "something follows the first YAML document; write one document in a file"},
		"name: x\n---\n: :\n]":             {0, "something follows the first YAML document; write one document in a file"},
		"a: b: c":                          {1, "this is not YAML: mapping values are not allowed in this context"},
		"name: x\ncount: [1":               {2, "this is not YAML: did not find expected ',' or ']'"},
		"words: [a]\n<<<<<<< HEAD\nname: x\n=======\nname: y\n>>>>>>> theirs": {2, "this line marks a merge conflict; keep one version of what is between the marks"},
		"csv:\n\u00a0\u00a0sign: x":                {2, `unknown key "\u00a0\u00a0sign"; known keys: name, count, bytes, share, on, wait, words, inside, csv, decimal; a no-break or other wide blank stands beside the key, so write plain blanks`},
		"csv:\n  sign: x\n\u00a0\u00a0words: y: z": {3, "a no-break or other wide blank indents this line; indent by plain blanks"},
		"csv: {sign: 0,5}":                         {1, `unknown key "5"; known keys: sign; write numbers with a decimal point, such as 0.5`},
		"name: x\n\n\tcount: 1":                    {3, "this is not YAML: a tab indents this line; indent by blanks"},
		"name: x\n\tcount: 1":                      {2, "this is not YAML: a tab indents this line; indent by blanks"},
		"name: x\ncsv: a\x00b":                     {2, "this is not YAML: control characters are not allowed"},
		"name: x\ncsv: a\u0080b":                   {2, "this is not YAML: control characters are not allowed"},
		"name: x\nwords: *.csv":                    {2, "this is not YAML: write text that begins with * or & in quotes"},
		"name: x\nwords: |x":                       {2, "this is not YAML: did not find expected comment or line break"},
		"name: x\nwords: *all":                     {2, "this is not YAML: unknown anchor 'all' referenced; write text that begins with * in quotes"},
		"name: x\non: !x!y b":                      {2, "this is not YAML: found undefined tag handle"},
		"name: x\ncsv: caf\xe9":                    {2, "this line is not UTF-8 text; save the file as UTF-8"},
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

// A key is sent to the key beside it whose structure has it, not to one that only has the same name.
func TestUnknownKeyBelongsOneLevelDown(t *testing.T) {
	var s struct {
		First struct {
			Deep struct {
				Mark string `yaml:"mark"`
			} `yaml:"deep"`
		} `yaml:"first"`
		Second []inner `yaml:"second"`
		Third  struct {
			Mark string `yaml:"mark"`
		} `yaml:"third"`
	}
	for text, want := range map[string]string{
		"mark: x":    `unknown key "mark" here; it belongs in third`,
		"decimal: x": `unknown key "decimal" here; it belongs in second`,
		"deep: x":    `unknown key "deep" here; it belongs in first`,
	} {
		if err := Decode([]byte(text), &s); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A part of a document names the lines of the document.
func TestDecodeNodeKeepsLines(t *testing.T) {
	for text, want := range map[string]Error{
		"a: 1\nb:\n  name: x\n  # a comment\n\n  nam: x": {6, `unknown key "nam"; did you mean "name"?`},
		"a: 1\nb:\n  name: x\n\n  count: many":           {5, `count is "many"; write a whole number`},
		"a: 1\nb: {name: x, nam: y}":                     {2, `unknown key "nam"; did you mean "name"?`},
	} {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		var got *Error
		if err := DecodeNode(doc.Content[0].Content[3], &sample{}); !errors.As(err, &got) || *got != want {
			t.Errorf("%q: %+v, want %+v", text, err, want)
		}
	}
}

package dataset

import (
	"strings"
	"testing"
)

// A text that begins with a comment says so, or the option comment skips it; a header whose first name
// begins with # is none.
func TestTextThatBeginsWithAComment(t *testing.T) {
	for text, comment := range map[string]string{
		"# exported in 2024\nid\tage\n1\t30\n":      "#",
		"\n# exported, by hand\nid;age;x\n1;30;2\n": "#",
		"#id,age\n1,30\n":                           "",
		"#id,name\n1,\"Smith, John\"\n":             "",
		"# by hand\n\"id\",\"name\"\n1,a\n":         "#",
		"id,age\n1,30\n":                            "",
		"#\n1\n":                                    "",
		"":                                          "",
	} {
		if got := GuessComment(strings.NewReader(text)); got != comment {
			t.Errorf("%q: comment %q, want %q", text, got, comment)
		}
		_, err := OpenCSV("t.csv", strings.NewReader(text), CSVForm{})
		if said := err != nil && strings.Contains(err.Error(), `write csv: {comment: "#"} (--comment "#")`); said != (comment != "") {
			t.Errorf("%q: error %v", text, err)
		}
		if comment == "" {
			continue
		}
		if _, err := OpenCSV("t.csv", strings.NewReader(text), CSVForm{Comment: '#'}); err != nil {
			t.Errorf("%q with its comment: %v", text, err)
		}
	}
}

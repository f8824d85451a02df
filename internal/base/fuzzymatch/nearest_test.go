package fuzzymatch

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"name", "gamma", "coef0", "C", "class_weight", "standard", "minmax"}
	for word, want := range map[string]string{
		"gama":        "gamma",
		"gmama":       "gamma", // neighbours swapped
		"c":           "C",
		"classweight": "class_weight",
		"Standart":    "standard",
		"min-max":     "minmax",
		"gamma":       "gamma",
		"sigma":       "", // three of five letters: another word
		"banana":      "",
		"":            "",
		"x":           "", // not C
	} {
		got, ok := Nearest(word, known...)
		if ok != (want != "") || ok && got != want {
			t.Errorf("Nearest(%q) = %q, %v; want %q", word, got, ok, want)
		}
	}
	if _, ok := Nearest("word"); ok {
		t.Error("a word was found among none")
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"abc", "axc", 1}, {"abc", "ac", 1}, {"kitten", "sitting", 3}} {
		if got := edits(c.a, c.b); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

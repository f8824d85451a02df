package transcript

import (
	"strings"
	"testing"
)

// Messages of one kind become one line with senders, receivers and sizes.
func TestFold(t *testing.T) {
	g := Group{Role: "party", Members: []string{"a", "b", "c"}}
	for text, want := range map[string]string{
		"a hub 5":                                  "a -> hub, 5 bytes",
		"a hub 0":                                  "a -> hub, empty",
		"a hub 1, b hub 1, c hub 1":                "each party -> hub, 1 byte each",
		"hub a 5, hub b 7, hub c 5":                "hub -> each party, 5 to 7 bytes each",
		"a b 5, a c 5":                             "a -> each other party, 5 bytes each",
		"b a 5, c a 5":                             "each other party -> a, 5 bytes each",
		"b hub 5, c hub 5":                         "b, c -> hub, 5 bytes each",
		"a b 5, b c 5, c a 5":                      "each party -> the next party, 5 bytes each",
		"b a 5, c b 5, a c 5":                      "each party -> the previous party, 5 bytes each",
		"a b 5, a c 5, b c 5":                      "a -> b, a -> c, b -> c, 5 bytes each",
		"a b 5, a c 5, b a 5, b c 5, c a 5, c b 5": "each party -> each other party, 5 bytes each",
		"a b 5, a c 5, b a 5, b c 5, c a 5, c b 5, a hub 5, b hub 5, c hub 5": "each party -> each other member, 5 bytes each",
		"a b 5, a c 5, b a 5, b c 5, c a 5, c b 5, a hub 4, b hub 4, c hub 4": "each party -> each other party, 5 bytes each; each party -> hub, 4 bytes each",
		"a hub 1000, a hub 524 of the same message":                           "a -> hub, 1,524 bytes",
		"a hub 5, a hub 5 of another":                                         "a -> hub, 2 messages, of 5 bytes",
		"a hub 5, a hub 6 of another, b hub 11":                               "a, b -> hub, 1 to 2 messages each, together 11 bytes",
		"hub a 5, a hub 7":                                                    "hub -> a, 5 bytes; a -> hub, 7 bytes",
	} {
		var list []Message
		for one := range strings.SplitSeq(text, ", ") {
			words := strings.Fields(one)
			m := Message{From: words[0], To: words[1], Protocol: "p", Kind: "k", Whole: strings.Join(words[3:], "")}
			if strings.HasSuffix(one, "same message") {
				m.Whole = ""
			}
			for _, digit := range words[2] {
				m.Bytes = 10*m.Bytes + int(digit-'0')
			}
			list = append(list, m)
		}
		var lines []string
		for _, f := range g.fold(list) {
			lines = append(lines, f.route(g)+", "+f.size())
		}
		if got := strings.Join(lines, "; "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A message or a step without a sentence is an error, and unused sentences are found.
func TestWordsThatAreMissing(t *testing.T) {
	own := Say{
		Steps:    map[string]Step{"a": {Name: "one", Does: "Something."}, "c": {}},
		Messages: map[string]Kind{"p/k": {"words", "nothing."}, "a p/unnamed": {}, "p/never": {"words", "nothing."}},
		used:     make(map[string]bool),
	}
	p := NewPage(&Words{Title: "title", Say: own, shared: &Say{}})
	message := func(step, kind string) Message {
		return Message{Step: step, From: "x", To: "y", Protocol: "p", Kind: kind, Bytes: 1}
	}
	p.Add(Session{Steps: []string{"a", "b"}, Messages: []Message{message("a", "k"), message("a", "unnamed"), message("b", "other")}})
	want := []string{`message "a p/unnamed" needs a name`, `step "b"`, `message "p/other", which step b sends from x to y, has no sentence about what it reveals`}
	if len(p.errs) != len(want) {
		t.Fatalf("errors %v", p.errs)
	}
	for i, part := range want {
		if !strings.Contains(p.errs[i].Error(), part) {
			t.Errorf("error %v, want %s", p.errs[i], part)
		}
	}
	if unused := strings.Join(p.words.Unused(), ", "); unused != "p/never, step c" {
		t.Errorf("unused are %s", unused)
	}
	for line := range strings.Lines(p.b.String()) {
		if len([]rune(line)) > width+1 {
			t.Errorf("a line of %d characters", len(line))
		}
	}
}

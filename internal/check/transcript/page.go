package transcript

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const width = 110

// How explains the lines of a transcript.
const How = `Each line says: sender -> receiver: the message [its name on the wire], the size of its body. "Reveals" is ` +
	"what the receiver learns. Sealing and signing add bytes to each chunk of at most 512 KiB."

// Session is one recorded run of a protocol.
type Session struct {
	Members  []string // description of each member, one line each
	Group    Group    // members with the same role
	Steps    []string // names of the steps in order, including steps without messages
	Messages []Message
}

// Page is a transcript under construction.
type Page struct {
	// The map Shown has two keys for each message that the page shows: "PROTOCOL/KIND" and "step N
	// PROTOCOL/KIND". The map Elsewhere lists, for the name of another page, the messages that this
	// page leaves to that page.
	Shown     map[string]bool
	Elsewhere map[string][]string

	words *Words
	b     strings.Builder
	steps int
	errs  []error
}

// NewPage starts a transcript.
func NewPage(w *Words) *Page {
	p := &Page{words: w, Shown: make(map[string]bool), Elsewhere: make(map[string][]string)}
	p.line("", "", w.Title)
	p.line("", "", strings.Repeat("=", len([]rune(w.Title))))
	p.b.WriteByte('\n')
	p.line("", "", w.Session)
	p.b.WriteByte('\n')
	p.line("", "", cmp.Or(w.How, How))
	return p
}

// line appends a paragraph to the page, in lines of at most width characters. The first line starts
// with head, and all others with indent.
func (p *Page) line(head, indent, text string) {
	line := head
	for i, word := range strings.Fields(text) {
		switch {
		case len([]rune(line))+1+len([]rune(word)) > width:
			p.b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		case i > 0:
			line += " "
		}
		line += word
	}
	p.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// Add appends a session to the page, step by step.
func (p *Page) Add(s Session) {
	p.b.WriteByte('\n')
	for _, m := range s.Members {
		p.line("  ", "      ", m)
	}
	for _, name := range s.Steps {
		p.step(name, s)
	}
}

func (p *Page) step(name string, s Session) {
	step, err := p.words.step(name)
	p.note(err)
	p.steps++
	var list []Message
	for _, m := range s.Messages {
		if m.Step == name {
			list = append(list, m)
		}
	}
	does := step.Does
	if len(list) == 0 {
		does += " Nothing is sent."
	}
	p.b.WriteByte('\n')
	p.line(fmt.Sprintf("%d. %s: ", p.steps, step.Name), "   ", does)
	rest := &pair{}
	for _, f := range s.Group.fold(list) {
		k, own, err := p.words.kind(f.Message)
		key := f.Protocol + "/" + f.Kind
		if p.note(err); step.See != "" && !own {
			p.refer(step.See, key)
			for _, pair := range f.pairs {
				rest.bytes, rest.sizes = rest.bytes+pair.bytes, append(rest.sizes, pair.sizes...)
			}
			continue
		}
		p.Shown[key], p.Shown[fmt.Sprint("step ", p.steps, " ", key)] = true, true
		p.b.WriteByte('\n')
		p.line("   ", "       ", fmt.Sprintf("%s: %s [%s], %s", f.route(s.Group), k.Name, f.Kind, f.size()))
		p.line("       reveals: ", "       ", k.Reveals)
	}
	if n := len(rest.sizes); n > 0 {
		p.b.WriteByte('\n')
		more := "more "
		if n == len(list) {
			more = ""
		}
		p.line("   ", "       ", fmt.Sprintf("(%d %smessages as in %s, %s bytes in all)", n, more, step.See, plain(rest.bytes)))
	}
}

// refer records where a message is shown instead: on another page or in an earlier step. It records
// an error if the earlier step does not show the message.
func (p *Page) refer(see, key string) {
	if name, page := strings.CutSuffix(see, ".txt"); page {
		p.Elsewhere[name] = append(p.Elsewhere[name], key)
	} else if !p.Shown[see+" "+key] {
		p.note(fmt.Errorf("%s of this page must show message %q, because a later step refers to it", see, key))
	}
}

func (p *Page) note(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

// Compare completes the transcript and compares it with docs/protocols/transcripts/name.txt
// below the repository's root. With MERCER_GOLDEN=write it writes the file instead.
func (p *Page) Compare(t testing.TB, root, name string) {
	t.Helper()
	p.b.WriteString("\nWho learns what\n\n")
	for _, l := range p.words.Learns {
		p.line("   "+l.Who+" ", "       ", l.What)
	}
	for _, err := range p.errs {
		t.Errorf("%s: %v", name, err)
	}
	for _, key := range p.words.Unused() {
		t.Errorf("%s: this session has no %q; remove the sentence", name, key)
	}
	file := filepath.Join(root, "docs", "protocols", "transcripts", name+".txt")
	if os.Getenv("MERCER_GOLDEN") == "write" && !t.Failed() {
		if err := os.WriteFile(file, []byte(p.b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(want), "\n"), strings.Split(p.b.String(), "\n")
	for i := range max(len(a), len(b)) {
		if x, y := at(a, i), at(b, i); x != y {
			t.Fatalf("%s:%d is\n%s\nand the session says\n%s\nif this is intended, write the file with MERCER_GOLDEN=write", file, i+1, x, y)
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

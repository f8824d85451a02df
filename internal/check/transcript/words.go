// Package transcript writes small sessions of protocols as text for readers: senders and
// receivers of messages, their sizes, and what they reveal to the receivers. Only tests
// import it.
//
// Sizes and order come from a run, sentences from the files of testdata: one for each page
// of docs/protocols, and shared.yaml for messages of several protocols. A message without a
// sentence fails the test, and so does a sentence about a message that no session sends.
// The texts are in docs/protocols/transcripts; this command writes them again:
//
//	MERCER_GOLDEN=write go test ./internal/check/transcript ./internal/anonymous/gateway
package transcript

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Words holds the sentences of one transcript.
type Words struct {
	Title   string
	Session string // the session in one or two sentences
	How     string // replaces the explanation of every transcript's lines
	Runs    []Run
	Say     `yaml:",inline"`
	Learns  []Learns

	shared *Say
}

// Run is one job of a transcript, with its members' data. Tests read it.
type Run struct {
	Job    string
	Tables map[string]Table
	Likes  Likes
	Only   []string // the steps that are shown; all if empty
}

// Table is a party's invented table: rows of the people From to To.
type Table struct {
	From, To int
	Columns  []string
}

// Likes is a set of invented lists of liked items: of Devices people, among Items items.
type Likes struct{ Devices, Items int }

// Say holds the sentences about steps and messages.
type Say struct {
	Steps map[string]Step
	// Messages are keyed by protocol and kind, as in "okra/Rows", or by step, protocol and kind, as
	// in "errors secagg/MaskedInput".
	Messages map[string]Kind

	used map[string]bool
}

// Step describes a step of a plan. See, if not empty, names the page with the messages that
// have no sentence of this step's own: they become one line.
type Step struct{ Name, Does, See string }

// Kind describes messages of one kind: a name, and what they reveal to the receiver.
type Kind struct{ Name, Reveals string }

// Learns states what one role learns from the whole session.
type Learns struct{ Who, What string }

// ReadShared reads the sentences about messages of several protocols.
func ReadShared(file string) (*Say, error) {
	s := &Say{used: make(map[string]bool)}
	return s, read(file, s)
}

// ReadWords reads the sentences of a transcript. Other sentences are taken from shared,
// which may be nil.
func ReadWords(file string, shared *Say) (*Words, error) {
	w := &Words{shared: shared}
	if err := read(file, w); err != nil {
		return nil, err
	}
	if w.used = make(map[string]bool); shared == nil {
		w.shared = &Say{}
	}
	if w.Title == "" || w.Session == "" || len(w.Learns) < 3 {
		return nil, fmt.Errorf("%s: a transcript must have a title, a sentence on its session, and three lines or more on who learns what", file)
	}
	return w, nil
}

func read(file string, to any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// kind returns the most specific description of a message, and whether it is the
// transcript's own.
func (w *Words) kind(m Message) (k Kind, own bool, err error) {
	plain := m.Protocol + "/" + m.Kind
	for _, s := range []*Say{&w.Say, w.shared} {
		for _, key := range []string{m.Step + " " + plain, plain} {
			if k, is := s.Messages[key]; is {
				s.used[key] = true
				if k.Name == "" || k.Reveals == "" {
					return k, false, fmt.Errorf("%q has no name, or no sentence on what it reveals", key)
				}
				return k, s == &w.Say, nil
			}
		}
	}
	return Kind{}, false, fmt.Errorf("no sentence describes what %q reveals, which step %s sends from %s to %s", plain, m.Step, m.From, m.To)
}

// step returns the description of a step.
func (w *Words) step(name string) (Step, error) {
	for _, s := range []*Say{&w.Say, w.shared} {
		if step, is := s.Steps[name]; is {
			s.used["step "+name] = true
			return step, nil
		}
	}
	return Step{}, fmt.Errorf("no sentence describes step %q", name)
}

// Unused returns the sentences that no transcript has shown so far.
func (s *Say) Unused() (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(s.Messages)) {
		if !s.used[key] {
			keys = append(keys, key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Steps)) {
		if !s.used["step "+name] {
			keys = append(keys, "step "+name)
		}
	}
	return keys
}

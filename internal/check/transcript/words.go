// Package transcript writes small sessions of protocols as text for readers. The text shows senders
// and receivers of messages, the sizes of the messages, and what each message reveals to its
// receiver. Only tests import the package.
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
	Session string // description of the session in one or two sentences
	How     string // explanation of the lines; "" means the constant How
	Runs    []Run
	Say     `yaml:",inline"`
	Learns  []Learns

	shared *Say
}

// Run describes one job that a transcript records, with its members' data. Tests read it.
type Run struct {
	Job    string
	Tables map[string]Table
	Likes  Likes
	Only   []string // names of the shown steps; all steps if empty
}

// Table describes a party's invented table. Its rows belong to people with consecutive numbers. The
// field From holds the first of these numbers, and the field To the last.
type Table struct {
	From, To int
	Columns  []string
}

// Likes describes invented lists of liked items. Each of Devices people likes some of Items
// items.
type Likes struct{ Devices, Items int }

// Say holds the sentences of a file about steps and messages.
type Say struct {
	Steps map[string]Step
	// Messages maps a protocol and a kind, as in "okra/Rows", to a description. A key can begin
	// with a step, as in "errors secagg/MaskedInput".
	Messages map[string]Kind

	used map[string]bool
}

// Step describes a step of a plan. If See is not empty, it names the page or step that describes
// the step's other messages. The transcript then shows those messages as one line.
type Step struct{ Name, Does, See string }

// Kind holds the name of one kind of message, and says what such messages reveal to the
// receiver.
type Kind struct{ Name, Reveals string }

// Learns is a role and what it learns from the whole session.
type Learns struct{ Who, What string }

// ReadShared reads the sentences about messages of several protocols.
func ReadShared(file string) (*Say, error) {
	s := &Say{used: make(map[string]bool)}
	return s, read(file, s)
}

// ReadWords reads the sentences of a transcript. If a sentence is missing, the transcript takes
// it from shared, which can be nil.
func ReadWords(file string, shared *Say) (*Words, error) {
	w := &Words{shared: shared}
	if err := read(file, w); err != nil {
		return nil, err
	}
	if w.used = make(map[string]bool); shared == nil {
		w.shared = &Say{}
	}
	if w.Title == "" || w.Session == "" || len(w.Learns) < 3 {
		return nil, fmt.Errorf("%s: the file needs a title, a sentence about its session, and at least three entries on who learns what", file)
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

// kind returns the description of a message. It searches the transcript's own file and then the
// shared file. In each file, a description for the message's step comes before a description for
// all steps. The result isOwn says whether the description is in the transcript's own file.
func (w *Words) kind(m Message) (k Kind, isOwn bool, err error) {
	plain := m.Protocol + "/" + m.Kind
	for _, s := range []*Say{&w.Say, w.shared} {
		for _, key := range []string{m.Step + " " + plain, plain} {
			if k, is := s.Messages[key]; is {
				s.used[key] = true
				if k.Name == "" || k.Reveals == "" {
					return k, false, fmt.Errorf("the description of message %q needs a name and a sentence about what the message reveals", key)
				}
				return k, s == &w.Say, nil
			}
		}
	}
	return Kind{}, false, fmt.Errorf("message %q, which step %s sends from %s to %s, has no sentence about what it reveals", plain, m.Step, m.From, m.To)
}

// step returns the description of the named step.
func (w *Words) step(name string) (Step, error) {
	for _, s := range []*Say{&w.Say, w.shared} {
		if step, is := s.Steps[name]; is {
			s.used["step "+name] = true
			return step, nil
		}
	}
	return Step{}, fmt.Errorf("step %q has no description", name)
}

// Unused returns the keys of the messages and steps that no transcript has used so far.
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

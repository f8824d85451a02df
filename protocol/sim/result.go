package sim

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// Result holds the outcome of a run: how each node ended, and what was sent.
type Result struct {
	Nodes []Outcome // outcomes, in the order of Config.Nodes
	Edges []Edge    // traffic, in the order of the session's members
	// Sent maps the header of every message to the SHA-256 of the body that its sender
	// sent.
	Sent map[protocol.Header][sha256.Size]byte
	// Refusals lists, in order, the events that Step answered with an error other than
	// protocol.ErrLater and, for a message, protocol.ErrPast.
	Refusals []Refusal
	// Peak is the largest amount of undelivered messages at one time. Duplicates do not count.
	Peak  Flight
	Steps int
	Ticks int64

	session *protocol.Session
	edges   []*Edge
	lines   strings.Builder
}

// Outcome holds the result of a run for one node.
type Outcome struct {
	Name    string
	Machine protocol.Machine // the node's machine, which holds its result
	End     *protocol.End    // nil if the node never ended
	Events  int              // number of accepted events
	Crashes int
	Peak    Flight // largest amount of undelivered messages to this node at one time
	flight  Flight
}

// Edge holds the number and size of the messages from one node to another.
type Edge struct {
	From, To string
	Messages int
	Bytes    int64 // bytes in the bodies of messages
	waiting  int   // number of undelivered messages
}

// Flight is an amount of undelivered messages: their number and size.
type Flight struct {
	Messages int
	Bytes    int64 // bytes in the bodies of messages
}

// Refusal is an event that a machine refused, with the error.
type Refusal struct {
	Node  string
	Event protocol.Event
	Err   error
}

func (f *Flight) add(messages, bytes int) {
	f.Messages += messages
	f.Bytes += int64(bytes)
}

func (f *Flight) raise(to Flight) {
	f.Messages = max(f.Messages, to.Messages)
	f.Bytes = max(f.Bytes, to.Bytes)
}

// finish sorts the edges and adds the nodes that never ended to the transcript.
func (r *Result) finish() {
	for _, e := range r.edges {
		r.Edges = append(r.Edges, *e)
	}
	slices.SortFunc(r.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(r.session.Index(a.From), r.session.Index(b.From)),
			cmp.Compare(r.session.Index(a.To), r.session.Index(b.To)))
	})
	if s := r.Stalled(); len(s) > 0 {
		r.writef("at rest without an end: %s", strings.Join(s, ", "))
	}
}

// Outcome returns the outcome of the node with the given name, or nil if there is no such node.
func (r *Result) Outcome(name string) *Outcome {
	for i := range r.Nodes {
		if r.Nodes[i].Name == name {
			return &r.Nodes[i]
		}
	}
	return nil
}

// Stalled returns the names of the nodes that never ended.
func (r *Result) Stalled() []string {
	var names []string
	for _, o := range r.Nodes {
		if o.End == nil {
			names = append(names, o.Name)
		}
	}
	return names
}

// Err returns nil if every node ended without an error.
func (r *Result) Err() error {
	var errs []error
	for _, o := range r.Nodes {
		switch {
		case o.End == nil:
			errs = append(errs, fmt.Errorf("sim: %s never ended", o.Name))
		case o.End.Err != nil:
			errs = append(errs, fmt.Errorf("sim: %s ended with: %w", o.Name, o.End.Err))
		}
	}
	return errors.Join(errs...)
}

// Transcript returns the run as text, with one line for each event. The line has the step and the
// event and, if the event was not accepted, what happened to the event. For a message, the line has
// the length of the body and the first 8 hexadecimal digits of the body's SHA-256. Other lines name
// the session and its members, crashes, and how nodes end. The text is stable, so that it can be
// stored in testdata.
func (r *Result) Transcript() string { return r.lines.String() }

// writef appends one line to the transcript. It joins several lines into one.
func (r *Result) writef(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.lines.WriteString(strings.ReplaceAll(line, "\n", "; "))
	r.lines.WriteByte('\n')
}

// write appends a line about an offered item to the transcript. The remark, if not empty, says what
// happened to the item and ends the line.
func (s *simulation) write(it item, remark string) {
	line := fmt.Sprintf("%d %s: %s", s.result.Steps, it.to.Name, eventName(it.event))
	if m, ok := it.event.(protocol.Received); ok {
		line = fmt.Sprintf("%d %s", s.result.Steps, describe(m.Message, it.to.Name))
	}
	if remark != "" {
		line += ": " + remark
	}
	s.result.writef("%s", line)
}

func describe(m protocol.Message, to string) string {
	body := sha256.Sum256(m.Body)
	text := fmt.Sprintf("%v, %d bytes, %x", m.Header, len(m.Body), body[:4])
	if m.Receiver != to {
		text += ", delivered to " + to
	}
	return text
}

package columnorder

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Leader is the machine of the party whose column order all parties adopt.
type Leader struct {
	machine
	others  []string // names of the other parties
	key     [keyBytes]byte
	layout  layout
	digests digests
	sent    int // number of messages with columns sent so far
	matches []*match
	missing int // number of answers that have not arrived
}

// NewLeader returns the machine of a leader that has the given table.
func NewLeader(setup protocol.Setup, own Table) (*Leader, error) {
	return newLeader(setup, own, bulk())
}

func newLeader(setup protocol.Setup, own Table, size sizing) (*Leader, error) {
	m, err := newMachine(setup, own, protocol.RoleLeader, size)
	if err != nil {
		return nil, err
	}
	l := &Leader{
		machine: m, others: setup.Session.With(protocol.RoleParty), key: prg.Derive(setup.Seed, "heading/key"),
		layout: newLayout(own.Columns != nil, own.Width, size),
	}
	l.matches, l.missing = make([]*match, len(l.others)), len(l.others)
	d := newDigester(l.key)
	for _, name := range own.Columns {
		l.digests.exact = append(l.digests.exact, d.exact(name))
		l.digests.folded = append(l.digests.folded, d.folded(name))
	}
	return l, nil
}

// Order returns 0, 1, 2 and so on, because the leader keeps the order of its columns.
func (l *Leader) Order() []int { return inPlace(l.own.Width) }

// Key returns a key that the parties share and the server does not know.
func (l *Leader) Key() [keyBytes]byte { return l.key }

// Own returns nil, because the error that ends a leader's session already describes the
// differences.
func (l *Leader) Own() error { return nil }

func inPlace(width int) []int {
	order := make([]int, width)
	for i := range order {
		order[i] = i
	}
	return order
}

// Step implements [protocol.Machine].
func (l *Leader) Step(e protocol.Event) (protocol.Effects, error) {
	return l.life.Step(l.setup, e, protocol.Handlers{Start: l.start, Receive: l.takeMatch, Resume: l.resume, Expire: l.expire})
}

func (l *Leader) start(e protocol.Start) (protocol.Effects, error) {
	if err := l.checkStart(e); err != nil {
		return protocol.Effects{}, err
	}
	eff := l.sendColumns()
	eff.Sync, eff.Arm = true, []protocol.Timer{TimerMatch}
	return eff, nil
}

func (l *Leader) resume() (protocol.Effects, error) {
	if l.allSent() {
		return protocol.Effects{}, errResume
	}
	eff := l.sendColumns()
	eff.Arm = []protocol.Timer{TimerMatch}
	return eff, nil
}

// allSent reports whether the leader has sent the columns to all parties.
func (l *Leader) allSent() bool { return l.sentTo(len(l.others) - 1) }

// sentTo reports whether the leader has sent all columns to a party.
func (l *Leader) sentTo(party int) bool {
	return l.sent > (l.layout.chunks()-1)*len(l.others)+party
}

// place returns a party's index in l.others, or -1.
func (l *Leader) place(party string) int { return slices.Index(l.others, party) }

// Facts holds the properties of a job on which its leakage depends.
type Facts struct {
	Leader  string
	Classes bool // whether class names are compared
}

// Leakage describes what each role learns in this job beyond its own names. The keys are
// "leader", "party", "server" and "broker".
func Leakage(f Facts) map[string][]string {
	leader := fmt.Sprintf("The leader, %s, learns how many columns each other party's table has. If a table's columns differ from the leader's, it learns which of the leader's columns that party lacks.", f.Leader)
	if f.Classes {
		leader += " It learns which classes each party has."
	}
	return map[string][]string{
		"leader": {leader},
		"party":  {"Every party learns the places of its columns in the leader's table, by their names. It can test guesses at the name of a column that it does not have."},
		"server": {"The server takes no part in the agreement on the column order, and learns no column's name from it."},
		"broker": {"The broker sees that the parties agree on columns. From the sizes it can compute the number of named columns within a factor of two."},
	}
}

// judge ends the session and sends the verdict to all parties.
func (l *Leader) judge() protocol.Effects {
	err := l.mismatches()
	verdict := ""
	if err != nil {
		verdict = publicText(err)
	}
	eff := protocol.Effects{Sync: true, End: &protocol.End{Err: err}}
	for _, name := range l.others {
		eff.Send = append(eff.Send, l.setup.Message(name, roundVerdict, kindVerdict, encodeVerdict(verdict)))
	}
	return eff
}

// encodeVerdict encodes the reason why tables do not match, or "" if they match. It shortens
// the text to maxVerdict bytes.
func encodeVerdict(text string) []byte {
	return padded([]byte(strings.ToValidUTF8(text[:min(len(text), maxVerdict)], "")))
}

// decodeVerdict returns the text of a verdict. It refuses characters that cannot be printed,
// such as control codes of a terminal.
func decodeVerdict(body []byte) (string, error) {
	content, err := unpadded(body)
	switch {
	case err != nil:
		return "", err
	case len(content) > maxVerdict:
		return "", fmt.Errorf("the verdict has %d bytes; at most %d are allowed", len(content), maxVerdict)
	case !utf8.Valid(content) || bytes.ContainsFunc(content, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", errors.New("the verdict contains characters that cannot be printed")
	}
	return string(content), nil
}

// mismatches returns an error with the reasons why tables do not match, or nil if they match.
func (l *Leader) mismatches() error {
	var all []error
	for i, m := range l.matches {
		if l.alike(*m) {
			continue
		}
		mismatch := newMismatch(l.others[i], l.setup.Self, *m, l.layout)
		mismatch.names = l.own.Columns
		all = append(all, mismatch)
	}
	if two := l.clash(); two != nil {
		all = append(all, &ClassError{two[0].class, two[0].member, two[1].class, two[1].member})
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return errorList(all)
}

// takeVerdict ends the session. The session ends with this party's own mismatch, if there is
// one, and otherwise with the leader's verdict. A verdict that all tables match is refused if
// this party's table does not match.
func (p *Party) takeVerdict(m protocol.Message) (protocol.Effects, error) {
	switch {
	case p.got == nil || p.missing > 0:
		return protocol.Effects{}, m.Unexpected()
	}
	verdict, err := decodeVerdict(m.Body)
	switch {
	case err != nil:
		return protocol.Effects{}, m.Malformed(err)
	case verdict == "" && p.mismatch != nil:
		return protocol.Effects{}, m.Inconsistent("the leader reports that the tables match, but they do not")
	case p.mismatch != nil:
		return protocol.Finish(protocol.Effects{}, p.mismatch)
	case verdict != "":
		return protocol.Finish(protocol.Effects{}, othersError(verdict))
	}
	if p.order == nil {
		p.order = inPlace(p.own.Width)
	}
	return protocol.Finish(protocol.Effects{}, nil)
}

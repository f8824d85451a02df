package heading

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mercer-fl/mercer/protocol"
)

// judge ends the session and tells all parties how.
func (l *Leader) judge() protocol.Effects {
	err := l.wrong()
	verdict := ""
	if err != nil {
		verdict = public(err)
	}
	eff := protocol.Effects{Sync: true, End: &protocol.End{Err: err}}
	for _, name := range l.others {
		eff.Send = append(eff.Send, l.setup.Message(name, roundVerdict, kindVerdict, encodeVerdict(verdict)))
	}
	return eff
}

// encodeVerdict encodes the reason why tables do not go together, or "" where they do. It is cut to maxVerdict.
func encodeVerdict(text string) []byte {
	return padded([]byte(strings.ToValidUTF8(text[:min(len(text), maxVerdict)], "")))
}

// decodeVerdict takes nothing that could write on a terminal but what it says.
func decodeVerdict(body []byte) (string, error) {
	content, err := unpadded(body)
	switch {
	case err != nil:
		return "", err
	case len(content) > maxVerdict:
		return "", fmt.Errorf("a verdict of %d bytes, at most %d are allowed", len(content), maxVerdict)
	case !utf8.Valid(content) || bytes.ContainsFunc(content, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", errors.New("a verdict that cannot be printed")
	}
	return string(content), nil
}

// wrong returns the reasons why the tables do not go together, or nil.
func (l *Leader) wrong() error {
	var all []error
	for i, m := range l.matches {
		if m.missing == 0 && m.named == l.layout.named && m.width == l.own.Width {
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
	return several(all)
}

// takeVerdict ends the session as the leader says, or because this party knows
// better.
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
		return protocol.Effects{}, m.Inconsistent("the tables do not go together, and the leader says that they do")
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

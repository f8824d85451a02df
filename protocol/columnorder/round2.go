package columnorder

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/protocol"
)

// sendAnswer compares the party's table with the leader's and sends the leader the result.
func (p *Party) sendAnswer() protocol.Effects {
	m, kind := match{named: p.own.Columns != nil, width: p.own.Width}, MatchKind
	if m.named && p.layout.named {
		m.missing, m.listed = p.compare()
	}
	if m.missing > 0 || m.named != p.layout.named || m.width != p.layout.width {
		p.mismatch, kind = p.describe(m), kindMismatch
	} else {
		m.classes = p.own.Classes
	}
	return protocol.Effects{
		Sync: true, Arm: []protocol.Timer{TimerColumns},
		Send: []protocol.Message{p.setup.Message(p.leader, roundMatch, kind, m.encode())},
	}
}

// compare finds the leader's columns in this party's table. It returns the number of missing
// columns, and describes the first maxListed of them.
func (p *Party) compare() (missing int, listed []gap) {
	d := newDigester(p.key)
	at := make(map[exact]int, len(p.own.Columns))
	for i, name := range p.own.Columns {
		at[d.exact(name)] = i
	}
	near := p.unmatched(d)
	p.order = make([]int, len(p.theirs.exact))
	for place, digest := range p.theirs.exact {
		i, known := at[digest]
		if known {
			p.order[place] = i
			continue
		}
		if missing++; len(listed) < maxListed {
			_, like := near[p.theirs.folded[place]]
			listed = append(listed, gap{place, like})
		}
	}
	return missing, listed
}

// unmatched returns the names of this party's columns that the leader's table lacks. The key of
// each name in the map is its folded digest.
func (p *Party) unmatched(d digester) map[folded]string {
	theirs := make(map[exact]bool, len(p.theirs.exact))
	for _, digest := range p.theirs.exact {
		theirs[digest] = true
	}
	own := make(map[folded]string)
	for _, name := range p.own.Columns {
		if !theirs[d.exact(name)] {
			own[d.folded(name)] = name
		}
	}
	return own
}

// describe returns the differences between this party's columns and the leader's. It adds the names
// of this party's columns.
func (p *Party) describe(m match) *Mismatch {
	out := newMismatch(p.setup.Self, p.leader, m, p.layout)
	if !m.named || !p.layout.named {
		return out
	}
	d := newDigester(p.key)
	left := p.unmatched(d)
	for _, g := range m.listed {
		if name, like := left[p.theirs.folded[g.place]]; like {
			out.near = append(out.near, pair{g.place, name})
			delete(left, p.theirs.folded[g.place])
		}
	}
	for _, name := range p.own.Columns { // lists surplus columns in the order of the table
		if left[d.folded(name)] == name {
			out.surplus = append(out.surplus, name)
		}
	}
	return out
}

// takeMatch stores a party's answer. After the last answer the leader sends the verdict.
func (l *Leader) takeMatch(m protocol.Message) (protocol.Effects, error) {
	from := l.place(m.Sender)
	if from < 0 || l.matches[from] != nil || !l.sentTo(from) || m.Round != roundMatch || m.Kind != MatchKind && m.Kind != kindMismatch || m.Sequence != 0 || m.Chunks != 1 {
		return protocol.Effects{}, m.Unexpected()
	}
	answer, err := decodeMatch(m.Body, l.own.Width)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	named := answer.named && l.layout.named
	if !named && answer.missing > 0 || named && answer.width < l.own.Width-answer.missing {
		return protocol.Effects{}, m.Inconsistent("the answer is not possible: a table of %d columns lacks %d of %d", answer.width, answer.missing, l.own.Width)
	}
	if (m.Kind == MatchKind) != l.alike(answer) || m.Kind == kindMismatch && len(answer.classes) > 0 {
		return protocol.Effects{}, m.Inconsistent("the kind of the answer contradicts its content")
	}
	l.matches[from] = &answer
	l.missing--
	if l.missing > 0 {
		return protocol.Effects{Arm: []protocol.Timer{TimerMatch}, Progress: protocol.Progress{Stage: "match", Done: int64(len(l.others) - l.missing), Total: int64(len(l.others))}}, nil
	}
	return l.judge(), nil
}

// alike reports whether a party's table has the leader's columns and no others.
func (l *Leader) alike(m match) bool {
	return m.missing == 0 && m.named == l.layout.named && m.width == l.own.Width
}

// expire ends the session with an error that names the parties that have not answered.
func (l *Leader) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerMatch || !l.allSent() {
		return protocol.Effects{}, nil
	}
	var missing []string
	for i, m := range l.matches {
		if m == nil {
			missing = append(missing, l.others[i])
		}
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(missing[0], protocol.KindSilent, fmt.Errorf("columnorder: %s did not answer in time", strings.Join(missing, ", "))))
}

// spelling is a class name as one member writes it.
type spelling struct{ class, member string }

// clash returns two spellings of one class that differ only by case, blanks or Unicode form. It
// returns nil if there are none.
func (l *Leader) clash() []spelling {
	known := make(map[string]spelling)
	for i := -1; i < len(l.others); i++ {
		member, classes := l.setup.Self, l.own.Classes
		if i >= 0 {
			member, classes = l.others[i], l.matches[i].classes
		}
		for _, class := range classes {
			one := spelling{class, member}
			other, taken := known[fuzzymatch.Fold(class)]
			if taken && other.class != class {
				return []spelling{other, one}
			}
			if !taken {
				known[fuzzymatch.Fold(class)] = one
			}
		}
	}
	return nil
}

package columnorder

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/protocol"
)

// Mismatch reports that a party's columns differ from the leader's. That is a mistake in
// the data, not misbehaviour. It matches [protocol.ErrInput].
type Mismatch struct {
	Party, Leader string

	named, leaderNamed bool
	width, leaderWidth int
	missing            int
	listed             []gap
	names              []string // names of the leader's columns; nil except at the leader
	near               []pair   // pairs of column names that differ only by case, blanks or Unicode form; nil except at the party
	surplus            []string // columns that the leader does not have; nil except at the party
}

// pair is a column of the leader and a column of the party with a similar name. The index of the
// leader's column counts from 0.
type pair struct {
	place int
	own   string
}

func newMismatch(party, leader string, m match, l layout) *Mismatch {
	return &Mismatch{
		Party: party, Leader: leader, named: m.named, leaderNamed: l.named,
		width: m.width, leaderWidth: l.width, missing: m.missing, listed: m.listed,
	}
}

// Is reports that the error matches [protocol.ErrInput].
func (e *Mismatch) Is(target error) bool { return target == protocol.ErrInput }

const advice = "give every party the same columns, under the same names"

// Error returns the text for the log of the party whose session ends with the error. It
// contains only names of that party's own columns.
func (e *Mismatch) Error() string {
	var parts []string
	if e.names != nil {
		for _, g := range e.listed {
			parts = append(parts, fmt.Sprintf("%s has no column %q (%d of this table)%s", e.Party, e.names[g.place], g.place+1, hint(g.near)))
		}
	}
	for _, n := range e.near {
		parts = append(parts, fmt.Sprintf("this table's column %q differs from column %d of the table of %s (the leader) only by case, blanks or Unicode form", n.own, n.place+1, e.Leader))
	}
	if len(e.surplus) > 0 {
		parts = append(parts, fmt.Sprintf("%s (the leader) has no column %s", e.Leader, quoted(e.surplus)))
	}
	if len(parts) == 0 || e.names == nil {
		parts = append(parts, e.outline())
	}
	return "columnorder: " + strings.Join(parts, "; ") + "; " + advice
}

// hint returns a phrase for the error text if the party has a column with a similar name.
func hint(near bool) string {
	if near {
		return ", but one that differs only by case, blanks or Unicode form"
	}
	return ""
}

// quoted returns the first maxListed names in quotes, and the number of further names.
func quoted(names []string) string {
	return humanize.List(names, maxListed, func(name string) string { return fmt.Sprintf("%q", name) })
}

// Public returns the error without the names of columns, which the server must not learn.
func (e *Mismatch) Public() string { return "columnorder: " + e.outline() + "; " + advice }

// outline describes the difference by the positions of columns, without their names.
func (e *Mismatch) outline() string {
	switch {
	case e.named && !e.leaderNamed:
		return fmt.Sprintf("the columns of %s have names, and those of %s (the leader) have none", e.Party, e.Leader)
	case !e.named && e.leaderNamed:
		return fmt.Sprintf("the columns of %s (the leader) have names, and those of %s have none", e.Leader, e.Party)
	case !e.named:
		return fmt.Sprintf(`%s and %s (the leader) have different numbers of columns, and neither has names; write "features:" with the number of columns`, e.Party, e.Leader)
	case e.missing == 0:
		return fmt.Sprintf("%s has a column without a partner in the table of %s (the leader)", e.Party, e.Leader)
	}
	var places []string
	for _, g := range e.listed {
		text := fmt.Sprint(g.place + 1)
		if g.near {
			text += " (one there differs only by case, blanks or Unicode form)"
		}
		places = append(places, text)
	}
	what := "column " + humanize.Shown(places, e.missing-len(e.listed))
	return fmt.Sprintf("%s of the table of %s (the leader) has no partner at %s", what, e.Leader, e.Party)
}

// ClassError reports one class that is written in two ways, by two members or by one member. It
// matches [protocol.ErrInput].
type ClassError struct{ Class, Member, OtherClass, OtherMember string }

func (e *ClassError) Error() string {
	one, other := fuzzymatch.Quote(e.Class, e.OtherClass)
	who := fmt.Sprintf("%s has the class %s and %s %s", e.Member, one, e.OtherMember, other)
	if e.Member == e.OtherMember {
		who = fmt.Sprintf("%s has the classes %s and %s", e.Member, one, other)
	}
	return "columnorder: " + who + ", which differ only by case, blanks or Unicode form; write one of them everywhere"
}

// Public returns the error without class names. A class is a value in the column of labels, which
// can be a person's name.
func (e *ClassError) Public() string {
	who := e.Member + " and " + e.OtherMember + " write a class"
	if e.Member == e.OtherMember {
		who = e.Member + " writes a class"
	}
	return "columnorder: " + who + " in two ways, which differ only by case, blanks or Unicode form; the leader's log names both"
}

// Is reports that the error matches [protocol.ErrInput].
func (e *ClassError) Is(target error) bool { return target == protocol.ErrInput }

// errorList is a list of two or more errors. It matches [protocol.ErrInput].
type errorList []error

func (s errorList) Error() string { return s.join(error.Error) }

// Public returns the parts of the errors that the server is allowed to read.
func (s errorList) Public() string {
	return s.join(publicText)
}

// publicText returns the part of an error that other members are allowed to read.
func publicText(err error) string {
	if said := fault.NoticeOf(err); said.Text != "" {
		return said.Text
	}
	return "columnorder: the tables do not match"
}

func (s errorList) join(text func(error) string) string {
	list := make([]string, len(s))
	for i, err := range s {
		list[i] = text(err)
	}
	return strings.Join(list, "; ")
}

func (s errorList) Is(target error) bool { return target == protocol.ErrInput }

func (s errorList) Unwrap() []error { return s }

// othersError is the verdict that a party receives when its own columns match, but another party's
// columns or the members' classes do not. It matches [protocol.ErrInput].
type othersError string

func (e othersError) Error() string { return string(e) }

// Public returns the leader's text, which all parties have received.
func (e othersError) Public() string { return string(e) }

func (e othersError) Is(target error) bool { return target == protocol.ErrInput }

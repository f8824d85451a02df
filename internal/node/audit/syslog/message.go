// Package syslog sends a home's record of audit events to a syslog server, for the watch of a hospital's security
// office. A line of the record becomes one message of RFC 5424, whose structured data have the line's number, its
// hash and that of the line before: the receiver can follow the chain.
package syslog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/audit"
)

// Origin names the sender of a message.
type Origin struct {
	Host   string // name of the machine, or ""
	Member string // name of the daemon's member
	PID    int
}

const (
	facility = 13 // "log audit"
	notice   = 5  // severity of refusals, rejections, withdrawn releases and statements about privacy budgets
	informal = 6  // severity of everything else

	// element names the structured data. Its number is the one for examples in RFC 5612, because the project has no
	// number of its own.
	element = "mercer@32473"

	maxValue = 180 // bytes after which a value is cut, so that a message fits into the 2,048 bytes that receivers should take
)

// Message returns the line of a record as a message of RFC 5424.
func Message(o Origin, m audit.Mark, e audit.Event) []byte {
	severity := informal
	switch e.Kind {
	case audit.Refused, audit.Rejected, audit.ReleaseRefused, audit.ReleaseWithdrawn, audit.BudgetSettled:
		severity = notice
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<%d>1 %s %s mercer %d %s [%s", 8*facility+severity, e.Time.UTC().Format("2006-01-02T15:04:05.000000Z"), word(o.Host, 255), o.PID, word(string(e.Kind), 32), element)
	add := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, ` %s="%s"`, name, escaped(value))
		}
	}
	add("member", o.Member)
	add("number", strconv.Itoa(m.Number))
	add("hash", m.Hash)
	add("previous", e.Previous)
	add("job", e.Job)
	add("name", e.Name)
	add("stage", e.Stage)
	add("table", e.Table)
	if e.By != nil {
		add("by", e.By.String())
	}
	if e.Submitter != nil {
		add("submitter", e.Submitter.String())
	}
	if e.Alone {
		add("alone", "true")
	}
	add("outcome", e.Outcome)
	fmt.Fprintf(&b, "] %s", strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Kind, shown(e.Job), shown(e.Name))))
	return []byte(b.String())
}

// word returns a text as a field of a message's head: visible ASCII of at most the given length, or "-".
func word(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	if s == "" {
		return "-"
	}
	return s[:min(len(s), most)]
}

// shown returns a text as one line, cut after about maxValue bytes, without anything that cannot be printed.
func shown(text string) string { return cut(text, "") }

// escaped returns a text like shown, with the escapes that a value of structured data needs.
func escaped(text string) string { return cut(text, `"\]`) }

// cut returns the beginning of a text up to the character that reaches maxValue bytes, and dots if there is more. It
// writes a backslash before the characters in escape, and a blank for what cannot be printed.
func cut(text, escape string) string {
	var b strings.Builder
	for _, r := range fault.Printable(text) {
		if b.Len() >= maxValue {
			return b.String() + "..."
		}
		if strings.ContainsRune(escape, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

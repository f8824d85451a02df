package fault

import (
	"strings"
	"unicode"
)

// Notice holds the part of an error that a member may tell others.
type Notice struct {
	Code    Code
	Trouble Trouble // from the closed list, or
	Text    string  // a sentence of what everybody knows
}

// maxNotice bounds a notice's text in bytes.
const maxNotice = 1 << 10

// NoticeOf returns what others may be told of an error. An error that does not say so itself is
// told by its kind alone: its text may quote a cell, a path or another member's message.
func NoticeOf(err error) Notice {
	n := Notice{Code: CodeOf(err)}
	if err == nil {
		return n
	}
	if n.Trouble, n.Text = told(err); n.Text != "" {
		n.Text = Printable(n.Text)
	} else if n.Trouble == NoTrouble {
		n.Trouble = n.Code.trouble()
	}
	return n
}

// told finds the outermost part of an error that says what others may be told.
func told(err error) (Trouble, string) {
	if e, coded := err.(*Error); coded && (e.Trouble != NoTrouble || e.Public != "") { //nolint:errorlint // the outermost part, and no inner one
		return e.Trouble, e.Public
	}
	if e, discreet := err.(interface{ Public() string }); discreet {
		return NoTrouble, e.Public()
	}
	switch e := err.(type) { //nolint:errorlint // it unwraps by itself
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return told(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if trouble, text := told(inner); trouble != NoTrouble || text != "" {
				return trouble, text
			}
		}
	}
	return NoTrouble, ""
}

// trouble returns what is told of an error of which nothing but the code is known.
func (c Code) trouble() Trouble {
	switch c {
	case CodeBadInput:
		return Data
	case CodePolicy:
		return Refused
	case CodeMisbehaved:
		return Broken
	case CodeTimedOut:
		return Late
	}
	return Unsaid
}

// Sentence returns the notice in words, for logs and terminals. What a peer wrote itself is
// made printable and is bounded.
func (n Notice) Sentence() string {
	if n.Trouble != NoTrouble {
		return n.Trouble.Sentence()
	}
	return Printable(n.Text)
}

// Printable returns a text in one line of bounded length that writes nothing to a terminal but
// itself.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) <= maxNotice {
		return s
	}
	return strings.ToValidUTF8(s[:maxNotice], "")
}

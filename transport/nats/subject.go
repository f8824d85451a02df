package nats

import (
	"fmt"
	"strconv"
	"strings"
)

// stream is the name of the one stream; its consumers bear the members' names.
const stream = "MERCER"

// Subjects of what members say. A message carries sender and receiver in its
// subject, which the server checks, and nothing else outside the sealed body.
func subject(from, to string) string       { return "mercer.msg." + from + "." + to }
func askSubject(member, box string) string { return "mercer.ask." + member + "." + box }
func boxSubject(member, box string) string { return "mercer.box." + member + "." + box }
func resetSubject(member string) string    { return "$JS.API.CONSUMER.RESET." + stream + "." + member }
func ackPrefix(member string) string       { return "$JS.ACK." + stream + "." + member + "." }
func twinSubject(member string) string     { return "mercer.twin." + member }
func replyPrefix(member string) string     { return "_INBOX." + member }

// asked takes a subject apart that a member asked for deliveries on.
func asked(subj string) (member, box string) {
	member, box, _ = strings.Cut(strings.TrimPrefix(subj, "mercer.ask."), ".")
	return member, box
}

// sender returns who sent what was delivered on subj to the member self.
func sender(subj, self string) (string, bool) {
	rest, ok := strings.CutPrefix(subj, "mercer.msg.")
	if !ok {
		return "", false
	}
	from, to, ok := strings.Cut(rest, ".")
	return from, ok && to == self && from != ""
}

// deliveries returns how often the message behind an acknowledgement's subject
// was delivered: $JS.ACK.STREAM.CONSUMER.<deliveries>.<...>.
func deliveries(ack, self string) (int, bool) {
	rest, ok := strings.CutPrefix(ack, ackPrefix(self))
	if !ok {
		return 0, false
	}
	count, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(count)
	return n, err == nil && n > 0
}

const maxNameBytes = 64

// checkName accepts what can be a token of a subject and a folder's name on
// every system.
func checkName(s string) error {
	if s == "" || len(s) > maxNameBytes {
		return fmt.Errorf("a member's name has 1 to %d bytes, not %d", maxNameBytes, len(s))
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !letter && (c != '-' || i == 0) {
			return fmt.Errorf("member %q: lower-case letters, digits and hyphens only, and no hyphen first", s)
		}
	}
	return nil
}

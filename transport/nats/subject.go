package nats

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/transport"
)

// stream returns the name of a lane's stream; its consumers bear the members' names.
func stream(lane transport.Lane) string {
	if lane == transport.Control {
		return "CONTROL"
	}
	return "MERCER"
}

// word tells the lanes apart in subjects.
func word(lane transport.Lane) string {
	if lane == transport.Control {
		return "ctl"
	}
	return "msg"
}

// Subjects of what members say. A message carries sender and receiver in its
// subject, which the server checks, and nothing else outside the sealed body.
func subject(lane transport.Lane, from, to string) string {
	return "mercer." + word(lane) + "." + from + "." + to
}
func askSubject(lane transport.Lane, member, box string) string {
	return "mercer.ask." + word(lane) + "." + member + "." + box
}
func boxSubject(member, box string) string { return "mercer.box." + member + "." + box }

func ackPrefix(lane transport.Lane, member string) string {
	return "$JS.ACK." + stream(lane) + "." + member + "."
}
func twinSubject(member string) string { return "mercer.twin." + member }
func replyPrefix(member string) string { return "_INBOX." + member }

// box takes a subject apart that a member asked for a lane's deliveries on.
func box(lane transport.Lane, member, subj string) string {
	return strings.TrimPrefix(subj, askSubject(lane, member, ""))
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

package access

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Person is somebody who has used a daemon. It names no role, since roles change.
type Person struct {
	Member  string  `json:"member"`            // member whose daemon the person used
	Machine Machine `json:"machine,omitempty"` // machine on which that daemon runs
	UID     *int    `json:"uid,omitempty"`     // number of the Unix user; nil if it is not known
	Subject string  `json:"subject,omitempty"` // issuer and subject of a login; "" if the person did not log in
}

// MayBe reports whether two persons may be one. It reports false only in these cases, in which they are two as far as
// the daemons know them:
//
//   - They logged in, with different subjects.
//   - They used daemons of different members on certainly two machines, see [Machine.MayBe]. A common login still
//     makes them one.
//   - They used daemons of one member, or on what may be one machine, as Unix users of different numbers. Neither
//     logged in, and neither is root, who can be any user.
//
// A person without a member is nobody in particular, so it may be anybody.
func (p Person) MayBe(o Person) bool {
	switch together := p.Member == o.Member || p.Machine.MayBe(o.Machine); {
	case p.Member == "" || o.Member == "":
		return true
	case p.Subject != "" && o.Subject != "":
		return p.Subject == o.Subject
	case !together:
		return false
	case p.Subject != "" || o.Subject != "": // a login and a user number cannot be compared
		return true
	case p.UID == nil || o.UID == nil:
		return true
	}
	return *p.UID == *o.UID || *p.UID == 0 || *o.UID == 0
}

// String names the person in a phrase.
func (p Person) String() string {
	switch {
	case p.Member == "":
		return "somebody unknown"
	case p.Subject != "":
		return p.Subject + " at " + p.Member
	case p.UID != nil:
		return fmt.Sprintf("user %d at %s", *p.UID, p.Member)
	}
	return "somebody at " + p.Member
}

const (
	maxMachine = 65      // longest Machine, in bytes
	maxSubject = 1 << 10 // longest login, in bytes
)

// Write appends the person's canonical encoding.
func (p Person) Write(w *wire.Writer) {
	w.String(p.Member)
	w.String(string(p.Machine))
	w.Bool(p.UID != nil)
	if p.UID != nil {
		w.Uint32(uint32(*p.UID))
	}
	w.String(p.Subject)
}

// Read reads a person that Write has written. It refuses text that cannot be printed, since operators read it.
func Read(r *wire.Reader) (p Person) {
	p.Member, p.Machine = r.String(protocol.MaxNameBytes), Machine(r.String(maxMachine))
	if r.Bool() {
		uid := int(r.Uint32())
		p.UID = &uid
	}
	p.Subject = r.String(maxSubject)
	for _, text := range []string{p.Member, string(p.Machine), p.Subject} {
		if text != fault.Printable(text) {
			r.Fail(errors.New("a person has characters that cannot be printed"))
		}
	}
	return p
}

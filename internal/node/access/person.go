package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Person is somebody who has used a daemon. It names no role, since roles change.
type Person struct {
	Member string `json:"member"` // member whose daemon the person used
	// Machine is a digest of the machine of that daemon; "" if it is not known. The users of two members' daemons
	// on one machine have the same numbers.
	Machine string `json:"machine,omitempty"`
	UID     *int   `json:"uid,omitempty"`     // number of the Unix user; nil if it is not known
	Subject string `json:"subject,omitempty"` // issuer and subject of a login; "" if the person did not log in
}

// MayBe reports whether two persons may be one. It reports false only if they are certainly two as far as the
// daemons know them. Persons of different members are taken for two, unless the members share a machine or the
// persons a login.
func (p Person) MayBe(o Person) bool {
	switch together := p.Member == o.Member || p.Machine != "" && p.Machine == o.Machine; {
	case p.Member == "" || o.Member == "": // nobody has said who it was
		return true
	case p.Subject != "" && p.Subject == o.Subject:
		return true
	case !together:
		return false
	case p.UID != nil && o.UID != nil:
		return *p.UID == *o.UID
	default: // two logins differ; a login and a user number cannot be compared
		return p.Subject == "" || o.Subject == ""
	}
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
	maxMachine = 64      // longest digest of a machine, in bytes
	maxSubject = 1 << 10 // longest login, in bytes
)

// Write appends the person's canonical encoding.
func (p Person) Write(w *wire.Writer) {
	w.String(p.Member)
	w.String(p.Machine)
	w.Bool(p.UID != nil)
	if p.UID != nil {
		w.Uint32(uint32(*p.UID))
	}
	w.String(p.Subject)
}

// Read reads a person that Write has written. It refuses text that cannot be printed, since operators read it.
func Read(r *wire.Reader) (p Person) {
	p.Member, p.Machine = r.String(protocol.MaxNameBytes), r.String(maxMachine)
	if r.Bool() {
		uid := int(r.Uint32())
		p.UID = &uid
	}
	p.Subject = r.String(maxSubject)
	for _, text := range []string{p.Member, p.Machine, p.Subject} {
		if text != fault.Printable(text) {
			r.Fail(errors.New("a person has characters that cannot be printed"))
		}
	}
	return p
}

// MachinePaths returns the files with the id of a Linux machine, the best first: the id that stays, and that of the
// present boot, which containers without the first one have, too.
func MachinePaths() []string { return []string{"/etc/machine-id", "/proc/sys/kernel/random/boot_id"} }

// Machine returns a digest of the id in the first file that has one, or "" if none has. The digest differs between
// federations, so that it tells nothing outside its own.
func Machine(federation string, paths ...string) string {
	for _, path := range paths {
		id, err := os.ReadFile(path)
		text := strings.TrimSpace(string(id))
		if err != nil || text == "" {
			continue
		}
		mac := hmac.New(sha256.New, []byte(text))
		mac.Write([]byte("mercer/v1/machine/" + federation))
		return hex.EncodeToString(mac.Sum(nil)[:16])
	}
	return ""
}

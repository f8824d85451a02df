package access

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// UnknownUID stands for a caller whose user the system does not tell.
const UnknownUID = -1

// Account is a Unix user with the names by which the setting "roles" may know the user. A name that the
// machine's files do not have is missing.
type Account struct {
	UID    int
	Name   string
	Groups []string
}

// Accounts finds the account of a Unix user. It never fails: an account without names has only its number.
type Accounts func(uid int) Account

// Gate lets those persons pass who have the role that a request needs.
type Gate struct {
	Member  string // the daemon's member
	Machine Machine
	Owner   int // number of the user who owns the home
	// Rules returns the home's setting "roles" that is in force.
	Rules func() Rules
	// Accounts finds the names of a user, as [Files.Account] does.
	Accounts Accounts
}

// Admit returns an error unless a Unix user has the role that a request needs. The error names that role if the
// user is known, and never somebody who has it.
func (g Gate) Admit(uid int, need Role) error {
	if uid < 0 {
		return fault.Forbidden(errors.New("this system does not tell the daemon which user asks; nothing is done"))
	}
	if rules := g.Rules(); rules.given() {
		if uid != overflowUID && rules.allows(g.Accounts(uid), need) {
			return nil
		}
	} else if uid == g.Owner || uid == 0 {
		return nil
	}
	return fault.Forbiddenf("this request needs the role %s, which user %d does not have in this home; ask the home's administrator", need, uid)
}

// Person returns the Unix user as other members and records know the user.
func (g Gate) Person(uid int) Person {
	p := Person{Member: g.Member, Machine: g.Machine}
	if uid >= 0 && uid != overflowUID {
		p.UID = &uid
	}
	return p
}

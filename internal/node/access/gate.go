package access

import (
	"errors"
	"fmt"
	"os/user"
	"slices"

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

// SystemAccount reads an account from the machine's files of users and groups. It does not ask a directory
// service: users that only such a service knows have no names here.
func SystemAccount(uid int) Account {
	a := Account{UID: uid}
	u, err := user.LookupId(fmt.Sprint(uid))
	if err != nil {
		return a
	}
	a.Name = u.Username
	ids, err := u.GroupIds()
	if err != nil {
		return a
	}
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil {
			a.Groups = append(a.Groups, g.Name)
		}
	}
	return a
}

// Gate lets those persons pass who have the role that a request needs.
type Gate struct {
	Member  string // the daemon's member
	Machine string // digest of the daemon's machine, see [Machine]
	Owner   int    // number of the user who owns the home
	// Rules returns the home's setting in force.
	Rules func() Rules
	// Accounts finds the names of a user, as [SystemAccount] does.
	Accounts Accounts
}

// Admit returns an error unless a Unix user has the role that a request needs. The error names that role, and
// nobody who has it.
func (g Gate) Admit(uid int, need Role) error {
	if uid < 0 {
		return fault.Forbidden(errors.New("this system does not tell the daemon which user asks; nothing is done"))
	}
	if rules := g.Rules(); rules.given() {
		if rules.allows(g.Accounts(uid), need) {
			return nil
		}
	} else if uid == g.Owner || uid == 0 {
		return nil
	}
	return fault.Forbiddenf("this needs the role %s, which user %d does not have in this home; ask the home's administrator", need, uid)
}

// Person returns the Unix user as other members and records know the user.
func (g Gate) Person(uid int) Person {
	p := Person{Member: g.Member, Machine: g.Machine}
	if uid >= 0 {
		p.UID = &uid
	}
	return p
}

// Strangers lists the names in the setting that the machine's files of users and groups do not have. Nobody
// has a role by them.
func (r *Rules) Strangers() (list []string) {
	for _, role := range Roles() {
		for _, name := range r.of(role).Users {
			if _, err := user.Lookup(name); err != nil {
				list = append(list, "user "+name)
			}
		}
		for _, name := range r.of(role).Groups {
			if _, err := user.LookupGroup(name); err != nil {
				list = append(list, "group "+name)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Package access decides which person may ask a daemon for what.
//
// A person is known to a daemon as a Unix user of its machine, as the kernel tells it, or by a login at the web
// page. The setting "roles" of a home gives roles to Unix users; package admin says which role each request
// needs. Without that setting, the home's owner and root may do everything, and no other Unix user anything.
package access

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Role permits a person some requests to a daemon.
type Role string

// These are the roles. An administrator may do everything, and everybody with a role may see what a viewer
// sees. Beyond that, submitter and approver include nothing of each other.
const (
	Viewer        Role = "viewer"        // sees jobs, their states and figures, and the federation
	Submitter     Role = "submitter"     // submits and aborts jobs, and uses their models
	Approver      Role = "approver"      // decides about jobs, and on the web page about releases, that await approval
	Administrator Role = "administrator" // does everything, such as erasing jobs and reading the configuration again
)

// Roles lists all roles.
func Roles() []Role { return []Role{Viewer, Submitter, Approver, Administrator} }

// Rules is the setting "roles" of a home. The zero value is a home without the setting.
type Rules struct {
	Viewer        Holders `yaml:"viewer,omitempty"`
	Submitter     Holders `yaml:"submitter,omitempty"`
	Approver      Holders `yaml:"approver,omitempty"`
	Administrator Holders `yaml:"administrator,omitempty"`
	// Folder is the absolute path of a folder in which the daemon serves a second control socket, for the
	// members of the Unix group Group. The home itself stays closed to them. Without a folder, only the home's
	// owner and root can reach a control socket.
	Folder string `yaml:"folder,omitempty"`
	Group  string `yaml:"group,omitempty"`
	// Alone lets the submitter of a job approve it, where nobody else can.
	Alone bool `yaml:"alone,omitempty"`
}

// Holders are the persons who have a role.
type Holders struct {
	Users  []string `yaml:"users,omitempty"`  // names of Unix users
	UIDs   []int    `yaml:"uids,omitempty"`   // numbers of Unix users
	Groups []string `yaml:"groups,omitempty"` // names of Unix groups
}

func (h Holders) empty() bool { return len(h.Users)+len(h.UIDs)+len(h.Groups) == 0 }

// of returns who has a role.
func (r *Rules) of(role Role) Holders {
	switch role {
	case Viewer:
		return r.Viewer
	case Submitter:
		return r.Submitter
	case Approver:
		return r.Approver
	case Administrator:
		return r.Administrator
	}
	return Holders{}
}

// given reports whether the setting names a person.
func (r *Rules) given() bool {
	return slices.ContainsFunc(Roles(), func(role Role) bool { return !r.of(role).empty() })
}

// Check returns an error if the setting is wrong. It does not ask whether users and groups exist.
func (r *Rules) Check() error {
	for _, role := range Roles() {
		if err := r.of(role).check(); err != nil {
			return fmt.Errorf(`%q in "roles": %w`, role, err)
		}
	}
	switch {
	case r.given() && r.Administrator.empty():
		return errors.New(`"roles" names no administrator; add "administrator: {users: [NAME]}"`)
	case (r.Folder == "") != (r.Group == ""):
		return errors.New(`"folder" and "group" in "roles" belong together; write both, or neither`)
	case r.Folder != "" && !filepath.IsAbs(r.Folder):
		return fmt.Errorf(`"folder" in "roles" is %q; write an absolute path, such as /run/mercer/north`, r.Folder)
	case r.Folder != "" && !r.given():
		return errors.New(`"folder" in "roles" is of no use while nobody has a role; add "administrator: {users: [NAME]}"`)
	}
	return nil
}

func (h Holders) check() error {
	if i := slices.IndexFunc(h.UIDs, func(uid int) bool { return uid < 0 || int64(uid) > maxUID }); i >= 0 {
		return fmt.Errorf("uids has %d, which is the number of no user; write a number from 0 to %d", h.UIDs[i], maxUID)
	}
	if slices.Contains(h.UIDs, overflowUID) {
		return fmt.Errorf("uids has %d, which stands for every user whose number the daemon's namespace does not have; write another user", overflowUID)
	}
	for _, list := range [][]string{h.Users, h.Groups} {
		if slices.ContainsFunc(list, func(name string) bool { return strings.TrimSpace(name) == "" }) {
			return errors.New("a name is empty; write a name, or remove the entry")
		}
	}
	return nil
}

// SameEntrance reports whether two settings have the same second socket.
func (r *Rules) SameEntrance(o Rules) bool { return r.Folder == o.Folder && r.Group == o.Group }

// overflowUID is the number by which the Linux kernel names every user whom a namespace does not have. It is often
// also the number of the user nobody, so a role that the setting gives to the name nobody has no effect.
const overflowUID = 65534

// maxUID is the largest number of a user. The number after it stands for no user.
const maxUID = 1<<32 - 2

// has reports whether an account holds the role itself.
func (h Holders) has(a Account) bool {
	return slices.Contains(h.UIDs, a.UID) ||
		a.Name != "" && slices.Contains(h.Users, a.Name) ||
		slices.ContainsFunc(a.Groups, func(group string) bool { return slices.Contains(h.Groups, group) })
}

// allows reports whether an account may do what needs a role. The setting gives at least one role.
func (r *Rules) allows(a Account, need Role) bool {
	if r.Administrator.has(a) {
		return true
	}
	if need == Viewer {
		return r.Viewer.has(a) || r.Submitter.has(a) || r.Approver.has(a)
	}
	return need != Administrator && r.of(need).has(a)
}

package access

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// Files are the paths of a machine's lists of users and groups, in the form of passwd(5) and group(5). The names of
// users come from them alone, however this program was built: a directory service, which others rule, names nobody.
type Files struct{ Users, Groups string }

// SystemFiles returns the files of this machine.
func SystemFiles() Files { return Files{"/etc/passwd", "/etc/group"} }

// Account finds the account of a user. Names that the files do not have are missing.
func (f Files) Account(uid int) Account {
	a := Account{UID: uid}
	users := entries(f.Users, userFields)
	i := slices.IndexFunc(users, func(e []string) bool { return e[2] == strconv.Itoa(uid) })
	if i < 0 {
		return a
	}
	a.Name = users[i][0]
	for _, g := range entries(f.Groups, groupFields) {
		if g[2] == users[i][3] || slices.Contains(strings.Split(g[3], ","), a.Name) {
			a.Groups = append(a.Groups, g[0])
		}
	}
	return a
}

// Group returns the number of a group.
func (f Files) Group(name string) (gid int, found bool) {
	for _, g := range entries(f.Groups, groupFields) {
		if g[0] == name {
			gid, err := strconv.ParseUint(g[2], 10, 31)
			return int(gid), err == nil
		}
	}
	return 0, false
}

// Strangers lists the names in the rules of roles that the files of users and groups lack. Such a name
// gives nobody a role.
func (f Files) Strangers(r Rules) (list []string) {
	users, groups := entries(f.Users, userFields), entries(f.Groups, groupFields)
	missing := func(kind string, names []string, known [][]string) {
		for _, name := range names {
			if !slices.ContainsFunc(known, func(e []string) bool { return e[0] == name }) {
				list = append(list, kind+" "+name)
			}
		}
	}
	for _, role := range Roles() {
		missing("user", r.of(role).Users, users)
		missing("group", r.of(role).Groups, groups)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// These are the numbers of fields in a line of each file.
const (
	userFields  = 7 // name, password, number, number of the first group, comment, home, shell
	groupFields = 4 // name, password, number, names of members
)

// entries returns the lines of a file as fields. It passes over lines of another form, such as those that refer to a
// directory service. A file that cannot be read has no lines.
func entries(path string, fields int) (list [][]string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		e := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(e) == fields && e[0] != "" && !strings.ContainsAny(e[0][:1], "+-#") {
			list = append(list, e)
		}
	}
	return list
}

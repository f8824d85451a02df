package page

import "github.com/mercer-fl/mercer/internal/node/access"

// Visitor is a person who has opened the page.
type Visitor struct {
	access.Person
	// May returns an error unless the person has a role. It is asked at each request, because roles change.
	May func(need access.Role) error
}

// same reports whether two visitors are one person, by what the daemon knows of them.
func (v Visitor) same(o Visitor) bool {
	if v.Member != o.Member || v.Machine != o.Machine || v.Subject != o.Subject || (v.UID == nil) != (o.UID == nil) {
		return false
	}
	return v.UID == nil || *v.UID == *o.UID
}

// roles lists the roles of the visitor.
func (v Visitor) roles() (list []string) {
	for _, r := range access.Roles() {
		if v.May(r) == nil {
			list = append(list, string(r))
		}
	}
	return list
}

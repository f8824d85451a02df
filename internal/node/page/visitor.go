package page

import "github.com/mercer-fl/mercer/internal/node/access"

// Visitor is a person who has opened the page.
type Visitor struct {
	access.Person
	// May returns an error unless the person has a role. It is asked at each request, because roles change.
	May func(need access.Role) error
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

package page

import "fmt"

// Role is what a person may do on the page.
type Role string

// These are the roles. An administrator may do everything, and everybody with a role may see what a viewer sees.
const (
	Viewer        Role = "viewer"        // sees all views
	Submitter     Role = "submitter"     // submits jobs, by other means
	Approver      Role = "approver"      // decides about jobs and releases that await approval
	Administrator Role = "administrator" // does everything
)

// Roles lists all roles.
func Roles() []Role { return []Role{Viewer, Submitter, Approver, Administrator} }

// Person is a Unix user of this machine, or a subject of an OpenID provider.
type Person struct {
	Member  string
	UID     *int
	Subject string
}

// MayBe reports whether two persons may be one.
func (p Person) MayBe(o Person) bool {
	return p.Subject == o.Subject && (p.UID == nil) == (o.UID == nil) && (p.UID == nil || *p.UID == *o.UID)
}

// String names the person in a phrase.
func (p Person) String() string {
	if p.Subject != "" {
		return p.Subject
	}
	if p.UID != nil {
		return fmt.Sprintf("user %d at %s", *p.UID, p.Member)
	}
	return "somebody unknown"
}

package admin

import (
	"context"
	"net/http"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// Invitation is the address at which a person opens the daemon's web page.
type Invitation struct {
	URL string `json:"url"`
}

// Inviting adds the request for the address at which a person opens the daemon's web page.
func (q *Requests) Inviting(invite func(who access.Person) (url string, err error)) *Requests {
	q.add("POST /page", func(r *http.Request) (any, error) {
		url, err := invite(q.person(r))
		return Invitation{url}, err
	})
	return q
}

// Invite asks for the address at which this user opens the daemon's web page.
func (c *Client) Invite(ctx context.Context) (i Invitation, err error) {
	return i, c.call(ctx, http.MethodPost, "/page", nil, &i)
}

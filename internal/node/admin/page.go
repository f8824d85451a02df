package admin

import (
	"context"
	"log/slog"
	"net/http"
)

// Invitation is the address at which a person opens the daemon's web page, once and within a minute.
type Invitation struct {
	URL string `json:"url"`
}

// Inviting adds the request for an invitation to the daemon's web page to the requests of a daemon. The function
// invite gets the Unix user who asks.
func Inviting(h http.Handler, invite func(uid int) (string, error), log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.Handle("POST /page", handler(log, func(r *http.Request) (any, error) {
		url, err := invite(uidOf(r))
		return Invitation{url}, err
	}))
	return mux
}

// Invite asks for the address at which this user opens the daemon's web page.
func (c *Client) Invite(ctx context.Context) (i Invitation, err error) {
	return i, c.call(ctx, http.MethodPost, "/page", nil, &i)
}

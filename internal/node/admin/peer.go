package admin

import (
	"context"
	"net"
	"net/http"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// uidKey is the key of the caller's Unix user in the context of a request.
type uidKey struct{}

// withUID returns a function that remembers the user at the other end of a connection, as peer tells it.
func withUID(peer func(net.Conn) int) func(context.Context, net.Conn) context.Context {
	return func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, uidKey{}, peer(c))
	}
}

// uidOf returns the Unix user who sent a request over the socket, or [access.UnknownUID].
func uidOf(r *http.Request) int {
	if uid, ok := r.Context().Value(uidKey{}).(int); ok {
		return uid
	}
	return access.UnknownUID
}

package admin

import (
	"context"
	"net"
	"net/http"
)

// uidKey is the key of the caller's Unix user in the context of a request.
type uidKey struct{}

// unknownUID stands for a caller whose user the system does not tell.
const unknownUID = -1

// withUID remembers the user at the other end of the socket, as the kernel tells it.
func withUID(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, uidKey{}, peerUID(c))
}

// uidOf returns the Unix user who sent a request over the socket, or unknownUID.
func uidOf(r *http.Request) int {
	if uid, ok := r.Context().Value(uidKey{}).(int); ok {
		return uid
	}
	return unknownUID
}

package admin

import (
	"context"
	"net"
	"net/http"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// uidKey is the key of the caller's Unix user in the context of a request.
type uidKey struct{}

// withUID remembers in the context of a request the user at the other end of its connection.
func withUID(ctx context.Context, c net.Conn) context.Context {
	if own, is := c.(*counted); is {
		return context.WithValue(ctx, uidKey{}, own.uid)
	}
	return ctx
}

// uidOf returns the Unix user who sent a request over the socket, or [access.UnknownUID].
func uidOf(r *http.Request) int {
	if uid, ok := r.Context().Value(uidKey{}).(int); ok {
		return uid
	}
	return access.UnknownUID
}

// peerUID returns the user of the process at the other end of a connection, or [access.UnknownUID].
func peerUID(c net.Conn) int {
	line, is := c.(*net.UnixConn)
	if !is {
		return access.UnknownUID
	}
	raw, err := line.SyscallConn()
	if err != nil {
		return access.UnknownUID
	}
	uid := access.UnknownUID
	if err := raw.Control(func(fd uintptr) { uid = userAt(int(fd)) }); err != nil {
		return access.UnknownUID
	}
	return uid
}

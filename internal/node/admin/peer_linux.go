package admin

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// peerUID returns the user of the process that opened the connection (SO_PEERCRED), or
// [access.UnknownUID].
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
	if err := raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid = int(peer.Uid)
		}
	}); err != nil {
		return access.UnknownUID
	}
	return uid
}

package admin

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID returns the user of the process that opened the connection (SO_PEERCRED), or unknownUID.
func peerUID(c net.Conn) int {
	line, is := c.(*net.UnixConn)
	if !is {
		return unknownUID
	}
	raw, err := line.SyscallConn()
	if err != nil {
		return unknownUID
	}
	uid := unknownUID
	if err := raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			uid = int(peer.Uid)
		}
	}); err != nil {
		return unknownUID
	}
	return uid
}

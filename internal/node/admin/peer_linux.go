package admin

import (
	"golang.org/x/sys/unix"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// userAt asks the kernel for the user at the other end of a socket (SO_PEERCRED).
func userAt(fd int) int {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return access.UnknownUID
	}
	return int(peer.Uid)
}

package admin

import (
	"golang.org/x/sys/unix"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// userAt asks the kernel for the user at the other end of a socket (LOCAL_PEERCRED).
func userAt(fd int) int {
	peer, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return access.UnknownUID
	}
	return int(peer.Uid)
}

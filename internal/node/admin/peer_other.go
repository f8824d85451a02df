//go:build !linux && !darwin

package admin

import (
	"net"

	"github.com/mercer-fl/mercer/internal/node/access"
)

// peerUID returns [access.UnknownUID], because only Linux and macOS are asked for the user of a connection. Such
// a user has no role.
func peerUID(net.Conn) int { return access.UnknownUID }

//go:build !linux && !darwin

package admin

import "github.com/mercer-fl/mercer/internal/node/access"

// userAt returns [access.UnknownUID], because only Linux and macOS are asked for the user of a connection. Such
// a user has no role.
func userAt(int) int { return access.UnknownUID }

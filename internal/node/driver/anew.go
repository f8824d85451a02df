package driver

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// AllowAnew stores in a session, before its machine runs, what the session needs to begin anew if its journal is lost
// ([vault.AllowAnew]). Its errors are of the kinds that Run returns.
func AllowAnew(s vault.Session, m protocol.Machine, input [32]byte) error {
	switch err := vault.AllowAnew(s, m, input); {
	case errors.Is(err, vault.ErrInput):
		return ErrInputChanged
	case err != nil:
		return interrupt(err)
	}
	return nil
}

package identity

import (
	"fmt"
	"log/slog"
)

// A fmt.Formatter answers every verb, %x and %#v included; a Stringer alone
// would leave some of them to print fields.
var (
	_ fmt.Formatter  = Identity{}
	_ slog.LogValuer = Identity{}
	_ fmt.Formatter  = SessionKeys{}
	_ slog.LogValuer = SessionKeys{}
)

// String names the identity by its fingerprint.
func (id Identity) String() string {
	if id.secret == nil {
		return "identity(none)"
	}
	return "identity " + id.public.Fingerprint().String()
}

// Format prints String for every verb.
func (id Identity) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, id.String()) }

// LogValue is String.
func (id Identity) LogValue() slog.Value { return slog.StringValue(id.String()) }

// String names the kind of k and nothing more.
func (k SessionKeys) String() string { return "session keys (redacted)" }

// Format prints String for every verb.
func (k SessionKeys) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, k.String()) }

// LogValue is String.
func (k SessionKeys) LogValue() slog.Value { return slog.StringValue(k.String()) }

package cli

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// privacyLines says in three lines who can reconstruct rows and why. It returns nil for results of
// earlier versions, which lack this information.
func privacyLines(exposures map[string]protocol.Exposure) []string {
	server, known := exposures["server"]
	if !known {
		return nil
	}
	others, coalition := worst(exposures, "leader", "active", "passive", "party"), worst(exposures, "coalition")
	lines := []string{fmt.Sprintf("The coordinator can reconstruct rows: %s.", server.Reach)}
	if others != nil {
		line := fmt.Sprintf("Other parties: %s.", others.Reach)
		if coalition != nil {
			line += fmt.Sprintf(" Members that work together: %s.", coalition.Reach)
		}
		lines = append(lines, line)
	}
	return append(lines, "Why: "+strings.Join(whyExposed(server, others, coalition), " "))
}

// whyExposed returns the reason for the greatest exposure to a single member, and the reason for the
// exposure to several members together if it is greater. The second says which members these are.
func whyExposed(server protocol.Exposure, others, coalition *protocol.Exposure) []string {
	alone := server
	if others != nil && others.Exceeds(server) {
		alone = *others
	}
	switch {
	case coalition == nil || !coalition.Exceeds(alone):
		return []string{closed(alone.Why)}
	case alone.Reach == protocol.ReachNone:
		return []string{closed(coalition.Why)}
	}
	return []string{closed(alone.Why), closed(coalition.Why)}
}

// closed returns s with a full stop at its end.
func closed(s string) string { return strings.TrimSuffix(s, ".") + "." }

// worst returns the greatest exposure among the given roles, or nil if no exposure is known.
func worst(exposures map[string]protocol.Exposure, roles ...string) *protocol.Exposure {
	var found *protocol.Exposure
	for _, role := range roles {
		if e, known := exposures[role]; known && (found == nil || e.Exceeds(*found)) {
			found = &e
		}
	}
	return found
}

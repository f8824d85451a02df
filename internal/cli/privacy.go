package cli

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// privacyLines says in three lines who can reconstruct rows and why. It returns nil for results of
// earlier versions, which do not say it.
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
	return append(lines, "Why: "+strings.TrimSuffix(whyExposed(server, others, coalition), ".")+".")
}

// whyExposed returns the sentence of whoever reaches furthest alone. If nobody reaches any row alone,
// it returns the sentence of those who reach one together.
func whyExposed(server protocol.Exposure, others, coalition *protocol.Exposure) string {
	switch {
	case others != nil && others.Exceeds(server):
		return others.Why
	case coalition != nil && server.Reach == protocol.ReachNone:
		return coalition.Why
	}
	return server.Why
}

// worst returns the exposure of the roles that reaches furthest, or nil if no role is stated.
func worst(exposures map[string]protocol.Exposure, roles ...string) *protocol.Exposure {
	var found *protocol.Exposure
	for _, role := range roles {
		if e, known := exposures[role]; known && (found == nil || e.Exceeds(*found)) {
			found = &e
		}
	}
	return found
}

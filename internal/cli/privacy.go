package cli

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// privacyLines says in three lines who can reconstruct rows of others, and from what: the
// coordinator, the most exposing party, and members that work together. It returns nil for results
// of earlier versions, which lack this information.
func privacyLines(exposures map[string]protocol.Exposure) []string {
	server, known := exposures["server"]
	if !known {
		return nil
	}
	who := "The coordinator (server)"
	if len(exposures) == 1 { // protocol pooled has no other member
		who = "Whoever runs the job"
	}
	lines := []string{exposed(who+" can reconstruct rows", server)}
	if role, e := worst(exposures, "party", "leader", "active", "passive"); role != "" {
		lines = append(lines, exposed(aloneTitles[role], e))
	}
	if e, known := exposures["coalition"]; known {
		lines = append(lines, exposed("Members that work together", e))
	}
	return explainPart(lines)
}

// aloneTitles names the roles of parties on the line about a party alone.
var aloneTitles = map[string]string{
	"party": "Another party alone", "passive": "Another party alone", "leader": "The leading party alone", "active": "The party with the labels alone",
}

// exposed says how far an exposure reaches, and why.
func exposed(who string, e protocol.Exposure) string {
	return fmt.Sprintf("%s: %s. %s.", who, e.Reach, strings.TrimSuffix(e.Why, "."))
}

// partMeans explains protocol.ReachPart to people.
const partMeans = " (some values, approximate values, or those of people whom it partly knows)"

// explainPart explains the first "in part" of the lines.
func explainPart(lines []string) []string {
	part := ": " + string(protocol.ReachPart)
	for i, line := range lines {
		if strings.Contains(line, part+".") {
			lines[i] = strings.Replace(line, part, part+partMeans, 1)
			break
		}
	}
	return lines
}

// worst returns the greatest exposure among the given roles, and its role. The role is "" if no
// exposure is known. Of equal exposures it returns the first.
func worst(exposures map[string]protocol.Exposure, roles ...string) (role string, found protocol.Exposure) {
	for _, r := range roles {
		if e, known := exposures[r]; known && (role == "" || e.Exceeds(found)) {
			role, found = r, e
		}
	}
	return role, found
}

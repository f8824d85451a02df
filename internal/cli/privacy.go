package cli

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/protocol"
)

// privacyLines returns lines that say how far, and why, members can reconstruct rows of others: a line for
// the coordinator, and one each, if the result knows it, for the party that can reconstruct most, for a keeper
// alone, and for members that work together. The first "in part" is explained. privacyLines returns nil for
// results of earlier versions, which lack this information.
func privacyLines(exposures map[string]protocol.Exposure) []string {
	server, known := exposures["server"]
	if !known {
		return nil
	}
	who := "The coordinator (server)"
	if len(exposures) == 1 { // protocol pooled has no other member
		who = "Whoever runs the job"
	}
	var lines []string
	meaning := partMeans
	add := func(who string, e protocol.Exposure) {
		reach := string(e.Reach)
		if e.Reach == protocol.ReachPart {
			reach, meaning = reach+meaning, ""
		}
		lines = append(lines, fmt.Sprintf("%s: %s. %s.", who, reach, strings.TrimSuffix(e.Why, ".")))
	}
	add(who+" can reconstruct rows", server)
	if role, e := worst(exposures, "party", "leader", "active", "passive"); role != "" {
		add(aloneTitles[role], e)
	}
	if e, known := exposures["keeper"]; known {
		add("One keeper alone", e)
	}
	if e, known := exposures["coalition"]; known {
		add("Members that work together", e)
	}
	return lines
}

// aloneTitles names the roles of parties on the line about a party alone.
var aloneTitles = map[string]string{
	"party": "Another party alone", "passive": "Another party alone", "leader": "The leading party alone", "active": "The party with the labels alone",
}

// partMeans explains protocol.ReachPart to people.
const partMeans = " (some values, approximate values, or those of people whom it partly knows)"

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

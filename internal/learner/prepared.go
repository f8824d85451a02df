package learner

import "fmt"

// Prepared holds what the coordinator reads of the preparation of a job's tables.
type Prepared struct {
	Columns int `json:"columns"` // that learners see
	// Digest is an HMAC-SHA-256 of the preparation under a key of the parties, or the SHA-256 of a
	// preparation that follows from the job alone. It is empty where each party prepares columns of
	// its own.
	Digest string `json:"digest,omitempty"`
	Keyed  bool   `json:"keyed,omitempty"`
}

// Text describes it in a line.
func (p *Prepared) Text() string {
	text := fmt.Sprintf("%d columns", p.Columns)
	switch {
	case p.Keyed:
		text += ", HMAC-SHA-256 " + p.Digest
	case p.Digest != "":
		text += ", SHA-256 " + p.Digest
	}
	return text
}

// Leak adds to the statement of a job's leakage what the coordinator reads of the preparation and
// what it never gets. A job without a schema has nothing to add.
func (p *Prepared) Leak(lines map[string][]string) {
	if p != nil {
		lines["server"] = append(lines["server"], p.told())
	}
}

func (p *Prepared) told() string {
	read := fmt.Sprintf("Of the preparation the server reads that it makes %d columns", p.Columns)
	switch {
	case p.Digest == "":
		read += ", by the number of each party"
	case p.Keyed:
		read += ", and a digest under a key that it does not have, by which it compares what the parties state"
	default:
		read += "; it follows from the job alone"
	}
	return read + ". It never gets cells, ids, values of groups, words and units of a party's catalogue, names of dropped columns, agreed categories, medians, means, fitted ranges, or a party's number of gaps."
}

package learner

import "fmt"

// Prepared describes how a job's tables were prepared, as far as the coordinator knows.
type Prepared struct {
	Columns int `json:"columns"` // number of columns that learners see
	// Digest is an HMAC-SHA-256 of the preparation under a key of the parties. If the preparation
	// follows from the job alone, it is a plain SHA-256. It is empty if each party prepares its own
	// columns.
	Digest string `json:"digest,omitempty"`
	Keyed  bool   `json:"keyed,omitempty"`
}

// Text describes the preparation in one line.
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

// Leak adds a text on the preparation to a job's leakage statement. The text says what the
// coordinator learns and what it never receives. Without a schema, Leak adds nothing.
func (p *Prepared) Leak(lines map[string][]string) {
	if p != nil {
		lines["server"] = append(lines["server"], p.told())
	}
}

func (p *Prepared) told() string {
	read := fmt.Sprintf("The server learns that the preparation makes %d columns", p.Columns)
	switch {
	case p.Digest == "":
		read += ", and how many of them each party has"
	case p.Keyed:
		read += ", and a digest under a key that it does not have, by which it compares the parties' preparations"
	default:
		read += "; it follows from the job alone"
	}
	return read + ". It never receives cells, ids, values of groups, words and units of a party's catalogue, names of dropped columns, agreed categories, medians, means, fitted ranges, or a party's number of gaps."
}

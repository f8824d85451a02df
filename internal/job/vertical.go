package job

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/job/section"
)

// Vertical reports whether the protocol is one between holders of other columns
// of the same people.
func (n ProtocolName) Vertical() bool { return n == Gram || n == FDSKL }

// Labels reports whether a party's labels are asked for: where columns are split,
// only those of the first party are, or of all that are active.
func (j *Job) Labels(party string) bool {
	return j.Data.Label != NoLabel && (j.Data.Partition.By != Columns || slices.Contains(j.Active(), party))
}

// Active lists the parties that have labels, where columns are split.
func (j *Job) Active() []string { return j.Parties()[:max(1, j.Protocol.Active)] }

// finishGram checks the parameters of protocol gram. It has no paper mode: the
// paper's sum is the same one.
func (p *Protocol) finishGram(in *section.Place) error {
	if p.Mode == Paper {
		return in.Refuse("mode", "protocol gram has no mode paper; remove it")
	}
	p.Mode = Hardened
	return p.finishIDs(in)
}

// finishIDs checks how many ids a party may bring.
func (p *Protocol) finishIDs(in *section.Place) error {
	if in.Given("max_ids") && (p.MaxIDs < 1 || p.MaxIDs > mostIDs) {
		return in.Refuse("max_ids", "max_ids is %d; write how many rows a party may bring, from 1 to %d", p.MaxIDs, mostIDs)
	}
	if !in.Given("max_ids") {
		p.MaxIDs = defaultMaxIDs
	}
	return nil
}

// Bounds on what a party may bring to the alignment; see protocol/psi.
const (
	defaultMaxIDs = 1 << 20
	mostIDs       = 1 << 22
)

// finishVertical checks that the protocol and the partition cut the same way,
// and what goes with columns in this version.
func (j *Job) finishVertical(in *section.Place) error {
	vertical, columns := j.Protocol.Name.Vertical(), j.Data.Partition.By == Columns
	switch {
	case vertical != columns:
		return in.Refuse("data", "protocol %s and this partition do not go together; gram and fdskl take partition: {by: columns}, and others do not", j.Protocol.Name)
	case !vertical:
		return nil
	case j.Data.Test.Source != "":
		return in.Refuse("data", "held-out rows of a source of their own are not in this version of protocol %s; use test: {fraction: 0.25} or {every: 10}", j.Protocol.Name)
	}
	return nil
}

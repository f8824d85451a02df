package columns

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// keptAlignment records which rows of a party's table match the other parties' rows. One job makes
// the alignment, and later jobs reuse it.
type keptAlignment struct {
	name    string
	table   string   // the table's name in the catalogue
	edition string   // the id of the table's edition; "" if the table was not frozen
	rule    string   // the rule by which the party made its ids
	heldOut string   // the job's rule for held-out rows, in words
	parties []string // the names of all parties, in ascending order
	ids     []string // the ids of the common rows, in the common order before some rows are held out
	key     [32]byte // a secret that all parties share and the coordinator does not know
}

const alignmentMagic = "mercer/v1/kept alignment"

func (k keptAlignment) encode() []byte {
	var w wire.Writer
	w.String(alignmentMagic)
	w.Bytes32([]byte(k.name))
	w.Bytes32([]byte(k.table))
	w.String(k.edition)
	w.Bytes32([]byte(k.rule))
	w.String(k.heldOut)
	w.Strings(k.parties)
	w.Fixed(k.key[:])
	w.Uint32(uint32(len(k.ids)))
	for _, id := range k.ids {
		w.Bytes32([]byte(id))
	}
	return w.Bytes()
}

// Limits for the decoded fields of an alignment: the bytes of an edition's id, the number of
// parties, and the bytes of a party's name or of heldOut.
const (
	maxEdition = 64
	maxPeers   = 1 << 13
	maxPeer    = 1 << 8
)

func decodeAlignment(b []byte) (k keptAlignment, err error) {
	r := wire.NewReader(b)
	r.Magic(len(alignmentMagic), alignmentMagic, "columns: the alignment begins with %q, which is another format")
	k.name, k.table = string(r.Bytes32(method.MaxLabelBytes)), string(r.Bytes32(method.MaxLabelBytes))
	k.edition, k.rule = r.String(maxEdition), string(r.Bytes32(method.MaxLabelBytes))
	k.heldOut = r.String(maxPeer)
	k.parties = r.Strings(maxPeers, maxPeer)
	r.Fixed(k.key[:])
	for range r.Count(mostIDs, 4) {
		k.ids = append(k.ids, string(r.Bytes32(len(b))))
	}
	return k, r.Close("columns: alignment")
}

// ToKeep encodes the alignment for later jobs. It returns nil if the job gives its alignment no
// name or reuses an earlier job's alignment, and before the alignment.
func (p *Party) ToKeep() []byte {
	name := p.Job.Data.Partition.Alignment
	if name == "" || p.kept || p.Set == nil {
		return nil
	}
	return keptAlignment{name, p.Job.Data.Source, p.edition, p.rule, p.Job.Data.Test.Words(), slices.Sorted(slices.Values(p.Parties)), p.order, p.key}.encode()
}

// takeKept reuses the common rows of an earlier job's alignment. People added since then take no
// part until the parties make an alignment with another name.
func (p *Party) takeKept(kept []byte) error {
	of := p.Job.Data.Partition
	if kept == nil {
		return fault.Public(fault.BadInputf("%s no longer has alignment %s of job %v; give the alignment a new name", p.Self, of.Alignment, of.AlignedBy))
	}
	k, err := decodeAlignment(kept)
	if err != nil {
		return fault.Kept.Of(err)
	}
	if what := k.mismatch(p); what != "" {
		return fault.Public(fault.BadInputf("alignment %s of job %v is %s; to compare ids again, give the alignment a new name", of.Alignment, of.AlignedBy, what))
	}
	order, err := k.placesOf(p.Table.IDs)
	if err != nil {
		return fault.BadInput(fmt.Errorf("alignment %s of job %v: %w; to compare ids again, give the alignment a new name", of.Alignment, of.AlignedBy, err))
	}
	p.kept = true
	err = p.align(order, k.key) // the alignment's key selects the same held-out rows in every job that reuses it
	p.key = k.keyOf(p.ID)
	return err
}

// keyOf derives the key of one job from the key of the alignment.
func (k keptAlignment) keyOf(id job.ID) [32]byte {
	var w wire.Writer
	w.String("mercer/v1/job of an alignment")
	w.Fixed(k.key[:])
	w.Fixed(id[:])
	return sha256.Sum256(w.Bytes())
}

// mismatch returns the reason why an alignment does not suit the job, or "" if there is none. The
// reason quotes no cell of a table and no rule for ids.
func (k keptAlignment) mismatch(p *Party) string {
	switch {
	case k.name != p.Job.Data.Partition.Alignment:
		return "one with another name"
	case k.table != p.Job.Data.Source:
		return "of another table"
	case !slices.Equal(k.parties, slices.Sorted(slices.Values(p.Parties))):
		return "one among other parties"
	case k.edition == "" && p.edition != "":
		return "of a table that was not frozen yet"
	case k.edition != p.edition:
		return "of another edition of the table of " + p.Self
	case k.heldOut != p.Job.Data.Test.Words():
		return "one with " + k.heldOut + " held out"
	case k.rule != p.rule:
		return "one of ids by another rule"
	}
	return ""
}

var errGone = errors.New("the table no longer has some rows of the alignment")

// placesOf returns, for each id of the alignment, its index in ids.
func (k keptAlignment) placesOf(ids []string) ([]int, error) {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	order := make([]int, len(k.ids))
	for i, id := range k.ids {
		place, in := at[id]
		if !in {
			return nil, errGone
		}
		order[i] = place
		delete(at, id) // a second occurrence of the id in the alignment is an error
	}
	return order, nil
}

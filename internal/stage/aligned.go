package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// Where a job says that tables are aligned, nobody looks for common ids to train. Each
// party brings a single one to the intersection, the digest of all its ids in
// their order. So the parties learn whether their tables have the same rows, and
// get a key in common, at the price of one id; and who wants to guess at the ids
// of another has one guess at all of them. A plain comparison of digests could be
// tried at leisure.

// params are those of the intersection.
func (a aligning) params(j *job.Job) (psi.Params, error) {
	if a.compared {
		return psi.NewParams(psi.Spec{MaxIDs: 1})
	}
	return psi.NewParams(psi.Spec{MaxIDs: j.Protocol.Limit("max_ids")})
}

// tableID stands for ids in their order.
func tableID(ids []string) []byte {
	var w wire.Writer
	w.String("mercer/v1/aligned")
	w.Strings(ids)
	sum := sha256.Sum256(w.Bytes())
	return sum[:]
}

// comparer finds out whether all parties have the same rows. Their order then
// follows from the key that all share and nobody else knows.
func (p *Party) comparer(setup Setup, params psi.Params) (*Run, error) {
	ids := p.vertical.table.IDs
	m, err := psi.NewParty(setup.Setup, params, [][]byte{tableID(ids)})
	if err != nil {
		return nil, err
	}
	return &Run{Machine: compared(m), InputHash: m.InputHash(), Finish: func() error {
		key := m.Key()
		return p.align(prg.New(key, "stage/order").Perm(len(ids)), key)
	}}, nil
}

// compared has a machine of the intersection speak of tables, since the only ids
// stand for tables.
func compared(m protocol.Machine) protocol.Machine {
	return method.Worded{Machine: m, Meaning: func(err error) error {
		var none *psi.EmptyError
		if !errors.As(err, &none) {
			return err
		}
		return fault.BadInput(fmt.Errorf("stage: the tables of %s do not have the same ids in the same order; give all the same, or remove aligned from the job", strings.Join(none.Parties, ", ")))
	}}
}

// alignLeakage says in plain words what each role learns by the alignment of so
// many common rows.
func alignLeakage(j *job.Job, parties, rows int) map[string][]string {
	if !j.Data.Partition.Aligned {
		return psi.Leakage(psi.Facts{Parties: parties, Common: rows, MaxIDs: j.Protocol.Limit("max_ids")})
	}
	server := "Two parties compare their tables by themselves; the server takes no part in it."
	if parties > 2 {
		server = "The server learns which parties have the same ids in the same order, and no id."
	}
	return map[string][]string{
		"server": {server},
		"party":  {fmt.Sprintf("Every party knows that all others have its %d ids, in its order: the job says so, and it was checked. A party that brings another list learns whether all others have that one, and no more.", rows)},
		"broker": {"The broker sees who sends to whom, when and how much; from that follows nothing about ids."},
	}
}

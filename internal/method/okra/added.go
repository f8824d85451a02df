package okra

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// rowDigest is a keyed digest of a row, its label and its held-out flag. The key follows from the
// epoch's seed. A party keeps the digests of the rows that it has sent, and sends them to nobody.
type rowDigest [16]byte

// digestsOf returns the digest of each row. The columns must be in the order of the epoch.
func digestsOf(seed okra.Seed, s method.Split) []rowDigest {
	mac := hmac.New(sha256.New, append([]byte("mercer/v1/okra/mark"), seed[:]...))
	rows := dataset.RowsOf(s.Set.X)
	n, width := rows.Shape()
	row, out := make([]float64, width), make([]rowDigest, n)
	for i := range n {
		rows.ReadRow(i, row)
		var w wire.Writer
		for _, v := range row {
			w.Uint64(math.Float64bits(v))
		}
		w.Bool(s.Test[i])
		if s.Set.Labels != nil {
			w.Bytes32([]byte(s.Set.Labels[i]))
		}
		mac.Reset()
		mac.Write(w.Bytes())
		copy(out[i][:], mac.Sum(nil))
	}
	return out
}

// newSince returns, in ascending order, the indices of the table's rows that were not sent before.
// It also returns how many sent rows the table no longer has.
func newSince(sent, table []rowDigest) (added []int, gone int) {
	left := make(map[rowDigest]int)
	for _, m := range sent {
		left[m]++
	}
	for i, m := range table {
		if left[m] == 0 {
			added = append(added, i)
			continue
		}
		left[m]--
	}
	return added, len(sent) + len(added) - len(table)
}

// findNewRows finds the rows that the party's table has gained since the earlier job. The sent rows
// must be unchanged, because a changed row that is encoded under the same seed would show the
// coordinator the change.
func (p *party) findNewRows(r continuation) error {
	if r.rows == nil { // an earlier version of the program kept no digests, so the party cannot find its new rows
		return nil
	}
	if err := p.Reorder(p.Width(), r.columns); err != nil {
		return err
	}
	var gone int
	if p.added, gone = newSince(r.rows, digestsOf(r.standing.Seed, p.Split)); gone == 0 {
		return nil
	}
	return &fault.Error{
		Code:   fault.CodePolicy,
		Err:    fmt.Errorf("okra: %d of the %d rows of %s in the earlier job are missing or have changed values, labels or held-out flags; restore them, or submit a job that continues no other", gone, len(r.rows), p.Self),
		Public: fmt.Sprintf("rows of %s in the earlier job are missing or have changed; restore them, or submit a job that continues no other", p.Self),
	}
}

// resumeFrom restores the state that the party kept when the earlier job ended. A party of the
// earlier job must have such a state, and a newcomer must not.
func (p *party) resumeFrom(b []byte) error {
	late := slices.Contains(changesContinuing(p.Job).Late, p.Self)
	switch {
	case late && b != nil:
		return fault.BadInputf(`okra: %s was a party of the earlier job, so it cannot be late; remove it from "late"`, p.Self)
	case late:
		return nil
	case b == nil:
		return fault.BadInputf(`okra: %s has no state of the earlier job, because that job was not continuable or was erased; submit a new job, or name the party in "late"`, p.Self)
	}
	r, err := decodeContinuation(b)
	if err != nil {
		return err
	}
	params, err := paramsOf(p.Job)
	switch {
	case err != nil:
		return err
	case r.params != params:
		return fault.BadInputf("okra: the settings of protocol differ from the earlier job's settings; copy the earlier job's settings")
	case r.scale != p.Job.Data.Scale:
		return fault.BadInputf(`okra: "scale" is %s, and was %s in the earlier job; copy the earlier job's "scale"`, p.Job.Data.Scale, r.scale)
	}
	return p.resumeRows(r)
}

// resumeRows prepares the rows in the same way as the rows of the earlier job. Then it finds the
// new rows.
func (p *party) resumeRows(r continuation) error {
	if p.standing = r.standing; !p.Job.Data.Fits() {
		p.standing.Preparation = nil // earlier versions of the program kept a preparation here although it follows from the job file
	}
	if !p.Job.Data.FitsSchema() { // with a schema, the number of columns follows from the fitted preparation
		if err := p.asWide(); err != nil {
			return err
		}
	}
	if err := p.FitAgain(p.standing.Preparation); err != nil {
		return fault.BadInput(fmt.Errorf("okra: %w", err))
	}
	if err := p.asWide(); err != nil {
		return err
	}
	return p.findNewRows(r)
}

func (p *party) asWide() error {
	if p.standing.Features == p.Width() {
		return nil
	}
	return fault.BadInputf("okra: the table has %d columns, but the earlier job's table had %d; use the same columns", p.Width(), p.standing.Features)
}

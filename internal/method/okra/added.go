package okra

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// mark is a digest of a row, its label and its held-out flag, under a key from the epoch's
// seed. A party keeps the marks of the rows that it has sent, and tells nobody.
type mark [16]byte

// marks returns the mark of each row. Columns are in the epoch's order.
func marks(seed okra.Seed, s method.Split) []mark {
	mac := hmac.New(sha256.New, append([]byte("mercer/v1/okra/mark"), seed[:]...))
	rows := dataset.RowsOf(s.Set.X)
	n, width := rows.Shape()
	row, out := make([]float64, width), make([]mark, n)
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

// since returns the rows that were not sent, ascending, and how many of the sent rows are not
// there any more.
func since(sent, now []mark) (added []int, gone int) {
	left := make(map[mark]int)
	for _, m := range sent {
		left[m]++
	}
	for i, m := range now {
		if left[m] == 0 {
			added = append(added, i)
			continue
		}
		left[m]--
	}
	return added, len(sent) + len(added) - len(now)
}

// compare finds the rows that the party's table has got since the earlier job. Rows that were
// sent must be there as they were: encoded anew under one seed, a changed row would show the
// coordinator the change.
func (p *party) compare(r rest) error {
	if r.rows == nil { // an earlier program kept no marks: the party confirms its old rows
		return nil
	}
	set, err := p.Split.Set.Arrange("the table of the earlier job", p.Width(), r.columns)
	if err != nil {
		return err
	}
	p.Split.Set, p.Rows = set, dataset.RowsOf(set.X)
	var gone int
	if p.added, gone = since(r.rows, marks(r.standing.Seed, p.Split)); gone == 0 {
		return nil
	}
	return &fault.Error{
		Code:   fault.CodePolicy,
		Err:    fmt.Errorf("okra: %d of the %d rows that the earlier job has of %s are gone, or have other values, another label or another held-out flag; restore them, or submit a job that continues none", gone, len(r.rows), p.Self),
		Public: fmt.Sprintf("rows that the earlier job has of %s have changed or are gone; restore them, or submit a job that continues none", p.Self),
	}
}

// news returns the rows that have come since the earlier job, scaled as the others were.
func (p *party) news() (okra.Input, error) {
	if len(p.added) == 0 {
		return okra.Input{}, nil
	}
	x, test := linalg.Pick(p.Rows, p.added), linalg.At(p.Split.Test, p.added)
	if p.Job.Data.Scale != job.None {
		s, err := decodeScaling(p.standing.Preparation, p.Width())
		if err != nil {
			return okra.Input{}, err
		}
		x = s.Rows(x)
	}
	x, test, err := learner.InViews(p.Job.Learner, x, p.Split.Set.Columns, test)
	return okra.Input{Rows: x, Labels: linalg.At(p.Split.Set.Labels, p.added), Test: test, Grid: p.Grid == method.AllGrid, Kept: true}, err
}

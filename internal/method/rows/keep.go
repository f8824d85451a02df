package rows

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// read returns the table before its preparation if the job fits the preparation. Otherwise it returns the
// prepared table, or the table as the party read it if there is no schema.
func (p *Party) read() *dataset.Set {
	if p.raw != nil {
		return p.raw
	}
	return p.Split.Set
}

// scaled sets the party's rows to the rows of the prepared table, and scales them if the scaling is
// known.
func (p *Party) scaled() {
	p.Rows = dataset.RowsOf(p.Split.Set.X)
	if len(p.Scaling.Offset) > 0 {
		p.Rows = p.Scaling.Rows(p.Rows)
	}
}

// Unfit restores the unprepared table, so that the preparation and the scaling can be fitted again.
func (p *Party) Unfit() {
	if p.raw != nil {
		p.Split.Set, p.Split.Prepared = p.raw, nil
		p.fit = fitter{plan: p.fit.first, first: p.fit.first}
	}
	p.Scaling = scale.Scaling{}
	p.scaled()
}

// Bring replaces the party's rows by a smaller or larger selection of the table's rows. It prepares
// and scales the selected rows like the earlier rows, and puts their columns into the common order.
func (p *Party) Bring(s method.Split) error {
	like := p.read()
	set, err := s.Set.Arrange("the table of the first session", like.X.Cols(), like.Columns)
	if err != nil {
		return err
	}
	made := p.Split.Prepared
	_ = p.Grid() // the grid is that of the earlier rows
	p.Split.Set, p.Split.Test = set, s.Test
	p.Split.Frame, _ = set.X.(*prepare.Frame)
	if p.raw == nil {
		p.scaled()
		return nil
	}
	if p.raw = set; made != nil {
		return p.prepareWith(made)
	}
	p.scaled()
	return nil
}

// Reorder puts the columns of the prepared table into the column order of an earlier job.
func (p *Party) Reorder(width int, columns []string) error {
	set, err := p.Split.Set.Arrange("the table of the earlier job", width, columns)
	if err != nil {
		return err
	}
	p.Split.Set = set
	p.scaled()
	return nil
}

// Fitted encodes the values that the parties have fitted together, for newcomers and for a later
// job. It returns an empty encoding if the job fits nothing.
func (p *Party) Fitted() []byte {
	var w wire.Writer
	if p.Job.Data.FitsSchema() {
		w.Bytes32(p.Split.Prepared.Encode())
	}
	if p.Job.Data.ScalesTogether() {
		w.Float64s(p.Scaling.Offset)
		w.Float64s(p.Scaling.Factor)
	}
	return w.Bytes()
}

// Fit prepares and scales the party's rows with values that other parties have fitted. The values
// are encoded as by [Party.Fitted]. An error marked as bad input is about the party's own rows.
func (p *Party) Fit(b []byte) error {
	made, scaling, err := decodeFitted(p.Job, b, p.Width())
	if err != nil {
		return err
	}
	switch {
	case made != nil:
		p.Scaling = scaling
		return p.prepareWith(made)
	case p.Job.Data.ScalesTogether():
		p.Scaling = scaling
		p.scaled()
	}
	return nil
}

// By prepares and scales a copy of the party's rows like [Party.Fit], and returns the copy. It also
// reports whether the numbers of all columns that vary lie on a grid. It does not change the party.
func (p *Party) By(b []byte) (rows linalg.Rows, grid bool, err error) {
	other := *p
	err = other.Fit(b)
	return other.Rows, other.Grid() == method.AllGrid, err
}

// decodeFitted decodes the output of Fitted. width is the number of columns if the job fits no
// schema.
func decodeFitted(j *job.Job, b []byte, width int) (made *prepare.Preparation, scaling scale.Scaling, err error) {
	r := wire.NewReader(b)
	if j.Data.FitsSchema() {
		encoded := r.Bytes32(len(b))
		if r.Err() == nil {
			made, err = prepare.Decode(encoded)
		}
		if r.Err() == nil && err == nil {
			err, width = made.Follows(j.Data.Schema, j.Data.Fitted()), made.Width()
		}
	}
	if err != nil {
		return nil, scaling, err
	}
	if j.Data.ScalesTogether() {
		r.Cut(func(b []byte) ([]byte, error) { return scaling.Cut(b, width) })
	}
	return made, scaling, r.Close("rows: what the parties have fitted")
}

// Raw returns the rows of a party that has not yet received the preparation. If the table is not
// yet numeric, it returns hashes of the rows, which serve only to detect changed rows.
func (p *Party) Raw() linalg.Rows {
	if f := p.frame(); f != nil {
		return digests{f}
	}
	return p.Rows
}

// digests reads the hash of each row of a frame as eight 32-bit integers.
type digests struct{ frame *prepare.Frame }

const digestWords = sha256.Size / 4

// Shape returns the number of rows and of integers in a hash; it implements [linalg.Rows].
func (d digests) Shape() (rows, cols int) { return d.frame.Rows(), digestWords }

// ReadRow hashes the cells of a row; it implements [linalg.Rows].
func (d digests) ReadRow(i int, dst []float64) {
	var cells []byte
	for j := range d.frame.Cols() {
		cells = d.frame.AppendCell(cells, i, j)
	}
	sum := sha256.Sum256(cells)
	for k := range dst {
		dst[k] = float64(binary.BigEndian.Uint32(sum[4*k:]))
	}
}

// errOtherFit reports that the fitted values of an earlier job do not suit this job.
var errOtherFit = errors.New("the earlier job has another schema or another \"scale\"; write the earlier job's schema and \"scale\"")

// FitAgain prepares and scales the party's rows with the fitted values that it has kept from an
// earlier job.
func (p *Party) FitAgain(b []byte) error {
	if _, _, err := decodeFitted(p.Job, b, p.Width()); err != nil {
		return fmt.Errorf("%w (%w)", errOtherFit, err)
	}
	return p.Fit(b)
}

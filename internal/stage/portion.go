package stage

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Portion is what a party keeps of a model by columns whose job leaves
// predictions open. It is secret, and of no use without the others'.
type Portion struct {
	Job     *job.Job
	Basis   Basis
	Width   int           // the party's columns
	Columns []string      // their names, or nil
	Scaling scale.Scaling // empty: none
	Reading model.Reading // of decisions, for whoever asks

	// Of protocol fdskl: the party's directions and, at the label holder, the
	// model's coefficients.
	directions   directionsOf
	coefficients linalg.Matrix[float64] // outputs x two for each direction
	mean         float64                // of numbers, which was taken off

	// Of protocol gram: the party's columns, scaled, of the rows in the model.
	rows linalg.Matrix[float64]
}

// Basis is what all who keep a part of a model by columns know of it, and what
// sessions about new rows are bound to.
type Basis struct {
	Parent  protocol.SessionID // the session that the model comes from names the model
	Rows    int                // in the model; 0 with protocol fdskl
	Outputs int                // numbers for a new row; 0 where only the label holder knows
}

// keptBasis is what the coordinator keeps of a model by columns.
func (s *Server) keptBasis() ([]byte, error) {
	var w wire.Writer
	w.String(basisMagic)
	basis := s.vertical.basis
	basis.Parent = s.ended["protocol"].Session
	basis.write(&w)
	file := bytes.NewBuffer(w.Bytes())
	if s.vertical.rowless == nil {
		return file.Bytes(), nil
	}
	err := model.EncodeRowless(file, s.vertical.rowless)
	return file.Bytes(), err
}

const basisMagic = "mercer/v1/basis"

// OpenAnswers reads what KeptAnswers wrote of a model by columns.
func OpenAnswers(j *job.Job, c Cast, b []byte) (*Server, Basis, error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != basisMagic {
		r.Fail(fmt.Errorf("not a basis but %q", magic))
	}
	s := NewServer(j, c)
	s.vertical.basis = readBasis(r)
	file := r.Rest()
	if err := r.Close("stage: basis"); err != nil {
		return nil, Basis{}, err
	}
	if !is[*gramKeys](j) {
		return s, s.vertical.basis, nil
	}
	var err error
	s.vertical.rowless, err = model.OpenRowless(bytes.NewReader(file))
	return s, s.vertical.basis, err
}

func (b Basis) write(w *wire.Writer) {
	w.Fixed(b.Parent[:])
	w.Uint32(uint32(b.Rows))
	w.Uint32(uint32(b.Outputs))
}

func readBasis(r *wire.Reader) Basis {
	var b Basis
	r.Fixed(b.Parent[:])
	b.Rows, b.Outputs = int(r.Uint32()), int(r.Uint32())
	if r.Err() == nil && (b.Rows > gram.MaxRows || b.Outputs > maxOutputs) {
		r.Fail(fmt.Errorf("%d rows and %d outputs", b.Rows, b.Outputs))
	}
	return b
}

// Bounds on a portion that is read back.
const (
	maxOutputs  = 1 << 24
	maxFeatures = 1 << 21
)

// portionMagic names the version of the format. The job file in a portion is as the
// program wrote it that trained the model; a later one may write it otherwise, and
// reads it all the same.
const portionMagic = "mercer/v1/portion"

// newPortion is what the party keeps once the job is done.
func (p *Party) newPortion(classes []string) (*Portion, error) {
	if p == nil || p.split.Set == nil || p.parent == (protocol.SessionID{}) {
		return nil, errors.New("stage: the job has no model to keep a part of")
	}
	o := &Portion{
		Job: p.Job, Basis: Basis{Parent: p.parent}, Width: p.width(), Columns: p.split.Set.Columns, Scaling: p.scaling,
		Reading: model.Reading{Kind: model.Kind(p.Job.Learner.Name), Classes: classes},
	}
	o.directions = p.vertical.directions
	if is[*gramKeys](p.Job) {
		o.Basis.Rows, o.Basis.Outputs = len(p.vertical.support), p.vertical.outputs
		o.rows = linalg.New[float64](o.Basis.Rows, o.Width)
		linalg.Gather(o.rows, linalg.Pick(p.rows, p.vertical.support), 0)
	}
	if got := p.vertical.learnt; got != nil {
		out := p.vertical.training.outputs()
		o.Reading.Classes, o.mean, o.coefficients = out.Classes, out.Mean, got.coefficients
	}
	return o, nil
}

// Encode returns the canonical encoding.
func (o *Portion) Encode() []byte {
	var w wire.Writer
	w.String(portionMagic)
	w.Bytes32(o.Job.Encode())
	o.Basis.write(&w)
	w.Uint32(uint32(o.Width))
	w.Strings(o.Columns)
	w.Bool(len(o.Scaling.Offset) > 0)
	w.Float64s(o.Scaling.Offset)
	w.Float64s(o.Scaling.Factor)
	w.Strings(o.Reading.Classes)
	w.Float64(o.directions.kernel.Gamma)
	w.Fixed(o.directions.key[:])
	w.Fixed(o.directions.common[:])
	w.Uint32(uint32(o.directions.before))
	w.Float64(o.mean)
	writeMatrix(&w, o.coefficients)
	writeMatrix(&w, o.rows)
	return w.Bytes()
}

// IsPortion says whether a keepsake is a part of a model by columns.
func IsPortion(keepsake []byte) bool {
	var w wire.Writer
	w.String(portionMagic)
	return bytes.HasPrefix(keepsake, w.Bytes())
}

// DecodePortion decodes what Encode wrote.
func DecodePortion(jobs *job.Reader, b []byte) (*Portion, error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != portionMagic {
		r.Fail(fmt.Errorf("not a portion but %q", magic))
	}
	spec := r.Bytes32(1 << 20)
	o := &Portion{Basis: readBasis(r), Width: r.Count(gram.MaxColumns, 0), Columns: r.Strings(gram.MaxColumns, method.MaxLabelBytes)}
	if r.Bool() {
		o.Scaling = scale.ReadScaling(r, o.Width)
	}
	o.Reading.Classes = r.Strings(method.MaxClasses, method.MaxLabelBytes)
	o.directions.kernel.Gamma = r.Float64()
	r.Fixed(o.directions.key[:])
	r.Fixed(o.directions.common[:])
	o.directions.before = int(r.Uint32())
	o.mean = r.Float64()
	o.coefficients = readMatrix(r, method.MaxClasses, maxFeatures)
	o.rows = readMatrix(r, gram.MaxRows, gram.MaxColumns)
	if err := r.Close("stage: portion"); err != nil {
		return nil, err
	}
	j, err := jobs.Parse("portion", spec)
	if err != nil {
		return nil, fmt.Errorf("stage: portion: %w", err)
	}
	o.Job, o.Reading.Kind = j, model.Kind(j.Learner.Name)
	k := j.Kernel
	k.Gamma, k.GammaUnit = o.directions.kernel.Gamma, ""
	o.directions.kernel = k
	return o, o.check()
}

// check refuses what does not fit together: who wrote it knew better.
func (o *Portion) check() error {
	if n := len(o.Columns); n > 0 && n != o.Width {
		return fmt.Errorf("stage: portion: %d names of %d columns", n, o.Width)
	}
	if c := o.coefficients; c.Rows > 0 {
		if c.Cols != 2*o.Job.Protocol.Limit("directions") {
			return fmt.Errorf("stage: portion: %d coefficients for %d directions", c.Cols, o.Job.Protocol.Limit("directions"))
		}
		if err := o.Reading.Check(c.Rows); err != nil {
			return fmt.Errorf("stage: portion: %w", err)
		}
	}
	if o.rows.Rows != o.Basis.Rows || o.rows.Rows > 0 && o.rows.Cols != o.Width {
		return fmt.Errorf("stage: portion: %d x %d values of %d rows", o.rows.Rows, o.rows.Cols, o.Basis.Rows)
	}
	return nil
}

// Erase overwrites what is secret.
func (o *Portion) Erase() {
	clear(o.directions.key[:])
	clear(o.coefficients.Data)
	clear(o.rows.Data)
}

// Fits says whether a party may ask about the rows of a table.
func (o *Portion) Fits(asker string, set *dataset.Set) error {
	if first := o.Job.Parties()[0]; is[*fdsklKeys](o.Job) && asker != first {
		return onlyFirst(first)
	}
	_, err := o.fitted(asker, set)
	return err
}

// fitted returns the columns of the model, and refuses a table without ids, or that
// is not like the one the model was trained on.
func (o *Portion) fitted(party string, set *dataset.Set) (*dataset.Set, error) {
	if set.IDs == nil {
		return nil, fmt.Errorf("%s has no ids by which its rows belong to those of other parties; name their column (--id for rows of a command, id: in the catalogue)", set.Name)
	}
	set, err := Columns(o.Job, party, set)
	if err != nil {
		return nil, err
	}
	return method.LikeTraining(set, o.Width, o.Columns)
}

func writeMatrix(w *wire.Writer, m linalg.Matrix[float64]) {
	w.Uint32(uint32(m.Rows))
	w.Uint32(uint32(m.Cols))
	for i := range m.Rows {
		w.Float64s(m.Row(i))
	}
}

// readMatrix reads finite numbers.
func readMatrix(r *wire.Reader, rows, cols int) linalg.Matrix[float64] {
	n, width := int(r.Uint32()), int(r.Uint32())
	if r.Err() == nil && (n > rows || width > cols || uint64(n)*uint64(width) > uint64(r.Len())/8) {
		r.Fail(fmt.Errorf("a matrix of %d x %d", n, width))
	}
	if r.Err() != nil {
		return linalg.Matrix[float64]{}
	}
	m := linalg.New[float64](n, width)
	r.Float64s(m.Data)
	if slices.ContainsFunc(m.Data, func(v float64) bool { return math.IsNaN(v - v) }) {
		r.Fail(errors.New("a matrix with numbers that are not finite"))
	}
	return m
}

package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// keptFit is what a job of kind Fit leaves at each of its parties: how all columns of a dictionary are
// prepared and scaled.
type keptFit struct {
	dictionary string // its hash
	scale      job.Scaling
	made       *prepare.Preparation
	columns    []string      // that the scaling is of, in its order
	scaling    scale.Scaling // empty where the preparation has it, or nothing is scaled
}

const keptMagic = "mercer/v1/fit"

func (k keptFit) encode() []byte {
	var w wire.Writer
	w.String(keptMagic)
	w.String(k.dictionary)
	w.String(string(k.scale))
	w.Bytes32(k.made.Encode())
	w.Bool(len(k.scaling.Offset) > 0)
	w.Strings(k.columns)
	w.Float64s(k.scaling.Offset)
	w.Float64s(k.scaling.Factor)
	return w.Bytes()
}

// decodeKept reads what encode wrote, and zeros behind it.
func decodeKept(b []byte) (k keptFit, err error) {
	r := wire.NewReader(b)
	r.Magic(len(keptMagic), keptMagic, "rows: %q is no fit")
	k.dictionary, k.scale = r.String(maxHash), job.Scaling(r.String(maxHash))
	made := r.Bytes32(len(b))
	scaled := r.Bool()
	k.columns = r.Strings(job.MaxFeatures, method.MaxLabelBytes)
	if scaled {
		r.Cut(func(b []byte) ([]byte, error) { return k.scaling.Cut(b, len(k.columns)) })
	}
	for _, b := range r.Rest() {
		if b != 0 {
			r.Fail(errors.New("rows: padding that is not zero"))
		}
	}
	if err := r.Close("rows: fit"); err != nil {
		return keptFit{}, err
	}
	k.made, err = prepare.Decode(made)
	return k, err
}

// maxHash bounds the hexadecimal digits of a hash.
const maxHash = 64

// WriteFit writes what later jobs of the dictionary prepare their rows by.
func (p *Party) WriteFit(to io.Writer) error {
	_, err := to.Write(p.keep().encode())
	return err
}

func (p *Party) keep() keptFit {
	k := keptFit{dictionary: p.Job.Data.Dictionary.Hash(), scale: p.Job.Data.Scale, made: p.Split.Prepared}
	if p.Job.Data.ScalesTogether() {
		k.columns, k.scaling = p.Split.Set.Columns, p.Scaling
	}
	return k
}

// FitRelease describes what a job of kind Fit lets out: numbers and words over all columns of the
// dictionary, to the other parties.
func (p *Party) FitRelease() method.Release {
	r := p.Case.Release(method.ReleaseFit, p.Self, p.label, p.read())
	r.Among = p.Split.Rows(false)
	return r
}

// errNoFit is about a fit of which the party has nothing.
var errNoFit = errors.New("this party has nothing of the fit that the job names: it took no part in the job that made it, or has forgotten that one; a job that names none has a fit made")

// errWrongFit is about a fit that is not the job's.
var errWrongFit = errors.New("the fit that the job names is of another dictionary, or of other columns or another scaling; submit the job without fit")

// by prepares the rows by what an earlier job has fitted.
func (p *Party) by(kept []byte) error {
	if kept == nil {
		return fault.BadInput(errNoFit)
	}
	k, err := decodeKept(kept)
	if err != nil {
		return fault.Kept.Of(err)
	}
	if err := p.takeKept(k); err != nil {
		return fault.BadInput(fmt.Errorf("%w (%w)", errWrongFit, err))
	}
	p.kept = kept
	return nil
}

// takeKept prepares and scales the picked columns as a fit has all.
func (p *Party) takeKept(k keptFit) error {
	d := &p.Job.Data
	if k.dictionary != d.Dictionary.Hash() || k.scale != d.Scale {
		return errors.New("rows: another dictionary or scaling")
	}
	made, err := k.made.Of(d.Schema)
	if err != nil {
		return err
	}
	if d.ScalesTogether() {
		var at []int
		for _, name := range made.Names() {
			at = append(at, slices.Index(k.columns, name))
		}
		if len(k.scaling.Offset) != len(k.columns) || slices.Contains(at, -1) {
			return errors.New("rows: a fit without the scaling of each column")
		}
		p.Scaling = scale.Scaling{Offset: linalg.At(k.scaling.Offset, at), Factor: linalg.At(k.scaling.Factor, at)}
	}
	if p.raw == nil { // the job alone says how its columns are prepared
		p.scaled()
		return nil
	}
	return p.take(made)
}

// keptSteps are the sessions in which nothing is fitted: newcomers are told the fit, and all state that
// they have the same.
func keptSteps(c method.Case) ([]Step, error) {
	var steps []Step
	if len(c.Job.Data.Fit.Told) > 0 {
		steps = append(steps, Step{Name: "fit-told", Session: among(c, broadcast.Name, broadcast.Version, broadcast.Encode(keptBytes(c.Job))), Party: (*Party).tellFit, Releases: fits})
	}
	if c.Job.Data.FitsSchema() {
		steps = append(steps, preparedStep(c))
	}
	return steps, nil
}

// keptBytes is the size of the message that tells a fit. It follows from the job, so that nobody sees by it
// how many words were agreed on.
func keptBytes(j *job.Job) int {
	d := j.Data.Dictionary
	agreed := len(d.Columns.Agrees())
	return 64<<10 + 2*len(d.Encode()) + agreed*(unionBytes+32*prepare.MaxUnited)
}

// tellFit has the leader tell newcomers the fit; all others compare it with their own.
func (p *Party) tellFit(s method.Setup) (*method.Run, error) {
	p.meet(s)
	return p.tell(s, func() ([]byte, error) { return padded(p.kept, keptBytes(p.Job)) }, p.hearFit)
}

// padded writes zeros behind a body.
func padded(body []byte, size int) ([]byte, error) {
	if len(body) > size {
		return nil, fmt.Errorf("rows: the fit takes %d bytes and has room for %d", len(body), size)
	}
	return append(slices.Clone(body), make([]byte, size-len(body))...), nil
}

func (p *Party) hearFit(b []byte) error {
	leader := p.fit.among[0]
	if p.kept != nil {
		own, err := padded(p.kept, len(b))
		if err != nil || !bytes.Equal(own, b) {
			return protocol.Blame(leader, protocol.KindInconsistent, errors.New("rows: it tells another fit than the one that this party has kept"))
		}
		return nil
	}
	k, err := decodeKept(b)
	if err == nil {
		err = p.takeKept(k)
	}
	if err != nil {
		return protocol.Blame(leader, protocol.KindMalformed, err)
	}
	p.kept = b
	return nil
}

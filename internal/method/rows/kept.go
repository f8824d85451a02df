package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// keptFit prepares and scales all columns of a dictionary. Each party of a job of kind Fit keeps
// one.
type keptFit struct {
	table      string // by its name in catalogues
	dictionary string // its hash
	scale      job.Scaling
	made       *prepare.Preparation
	scaling    scale.Scaling // of the prepared columns; empty where the preparation has it, or nothing is scaled
}

func (k keptFit) encode() []byte {
	var w wire.Writer
	w.String(method.FitMagic)
	w.Bytes32([]byte(k.table))
	w.String(k.dictionary)
	w.String(string(k.scale))
	w.Bytes32(k.made.Encode())
	w.Bool(len(k.scaling.Offset) > 0)
	w.Float64s(k.scaling.Offset)
	w.Float64s(k.scaling.Factor)
	return w.Bytes()
}

// decodeKept decodes the output of encode and the zeros after it.
func decodeKept(b []byte) (k keptFit, err error) {
	r := wire.NewReader(b)
	r.Magic(len(method.FitMagic), method.FitMagic, "rows: %q is no fit")
	k.table = string(r.Bytes32(method.MaxLabelBytes))
	k.dictionary, k.scale = r.String(maxHash), job.Scaling(r.String(maxHash))
	made := r.Bytes32(len(b))
	if r.Err() == nil {
		k.made, err = prepare.Decode(made)
	}
	if err != nil {
		return keptFit{}, err
	}
	if r.Bool() {
		r.Cut(func(b []byte) ([]byte, error) { return k.scaling.Cut(b, k.made.Width()) })
	}
	for _, b := range r.Rest() {
		if b != 0 {
			r.Fail(errors.New("rows: padding that is not zero"))
		}
	}
	for i, factor := range k.scaling.Factor {
		if offset := k.scaling.Offset[i]; !(factor >= 0 && factor <= dataset.MaxMagnitude && math.Abs(offset) <= dataset.MaxMagnitude) {
			r.Fail(fmt.Errorf("rows: the scaling has factor %g and offset %g; one of them is out of range", factor, offset))
		}
	}
	if err := r.Close("rows: fit"); err != nil {
		return keptFit{}, err
	}
	return k, nil
}

// maxHash bounds the hexadecimal digits of a hash.
const maxHash = 64

// WriteFit writes the fit with which later jobs of the dictionary prepare their rows.
func (p *Party) WriteFit(to io.Writer) error {
	if !p.HasFitted() {
		return errors.New("rows: the job has not fitted all")
	}
	d := &p.Job.Data
	k := keptFit{table: d.Source, dictionary: d.Dictionary.Hash(), scale: d.Scale, made: p.Split.Prepared}
	if d.ScalesTogether() {
		if !slices.Equal(p.Split.Set.Columns, k.made.Names()) {
			return errors.New("rows: columns in another order than the dictionary's")
		}
		k.scaling = p.Scaling
	}
	_, err := to.Write(k.encode())
	return err
}

// FitRelease describes the release of a job of kind Fit to the other parties: numbers and words
// over all columns of the dictionary.
func (p *Party) FitRelease() method.Release {
	r := p.Instance.Release(method.ReleaseFit, p.Self, p.label, p.read())
	r.Among, r.Edition = p.Split.Rows(false), p.edition.Without(p.Job.Data.Test)
	r.Fit = method.Fit{By: method.NewFit, Among: r.Among, Train: p.fitters()} // which an earlier job may have made by itself
	return r
}

// noFit reports a fit that the party does not have. Its text depends only on the job file.
func (p *Party) noFit() error {
	if p.Self == p.Parties[0] {
		return fault.Public(fault.BadInputf("%s no longer has the fit of job %v, which it has to send as the first party; list a party first that has it, or write a new dictionary", p.Self, p.Job.Data.Fit.Job))
	}
	return fault.Public(fault.BadInputf("%s no longer has the fit of job %v; submit the job with data: fit: {job: %v, told: [%s]}, and the first party sends it", p.Self, p.Job.Data.Fit.Job, p.Job.Data.Fit.Job, p.Self))
}

// errWrongFit reports a fit that does not match the job.
var errWrongFit = errors.New("the fit that the job names is of another dictionary or table, or has another scaling; take fit out of the job file")

// by prepares the rows with the fit of an earlier job.
func (p *Party) by(kept []byte) error {
	if kept == nil {
		return p.noFit()
	}
	k, err := decodeKept(kept)
	if err != nil {
		return fault.Kept.Of(err)
	}
	if err := p.takeKept(k); err != nil {
		return fault.BadInput(fmt.Errorf("%w (%w)", errWrongFit, err))
	}
	return nil
}

// takeKept prepares and scales the picked columns with a fit of all columns.
func (p *Party) takeKept(k keptFit) error {
	d := &p.Job.Data
	if k.dictionary != d.Dictionary.Hash() || k.scale != d.Scale || k.table != d.Source {
		return errors.New("rows: the fit is for another dictionary, table or scaling")
	}
	made, err := k.made.Of(d.Schema)
	if err != nil {
		return err
	}
	if d.ScalesTogether() {
		all := k.made.Names()
		var at []int
		for _, name := range made.Names() {
			at = append(at, slices.Index(all, name))
		}
		if len(k.scaling.Offset) != len(all) {
			return errors.New("rows: a fit without the scaling of each column")
		}
		p.Scaling = scale.Scaling{Offset: linalg.At(k.scaling.Offset, at), Factor: linalg.At(k.scaling.Factor, at)}
	}
	p.kept = k.encode()
	if p.raw == nil { // the job alone says how its columns are prepared
		p.scaled()
		return nil
	}
	return p.take(made)
}

// keptSteps are the sessions of a job that fits nothing: newcomers receive the fit, and all parties
// state that theirs are equal.
func keptSteps(c method.Instance) []Step {
	var steps []Step
	if len(c.Job.Data.Fit.Told) > 0 {
		steps = append(steps, Step{Name: "fit-broadcast", Session: among(c, collective.BroadcastName, collective.BroadcastVersion, collective.EncodeBroadcast(keptBytes(c.Job))), Party: (*Party).tellFit, Releases: fits})
	}
	return append(steps, preparedStep(c))
}

// keptBytes is the size of the message with a fit. It follows from the job, so it does not reveal
// how many words were agreed on.
func keptBytes(j *job.Job) int {
	d := j.Data.Dictionary
	columns := 0 // the most that are prepared
	for _, c := range d.Columns {
		columns += 3 + len(c.Categories)
	}
	agreed := len(d.Columns.Agrees())
	columns += agreed * prepare.MaxUnited
	return 64<<10 + 3*len(d.Encode()) + 128*len(d.Columns) + 16*columns + agreed*unionBytes
}

// tellFit builds the machine in which the leader sends newcomers the fit, and all others compare it
// with their own.
func (p *Party) tellFit(s method.Setup) (*method.Run, error) {
	p.meet(s)
	return p.tell(s, func() ([]byte, error) { return padded(p.kept, keptBytes(p.Job)) }, p.hearFit)
}

// padded appends zeros to a body.
func padded(body []byte, size int) ([]byte, error) {
	if len(body) > size {
		return nil, fmt.Errorf("rows: the fit takes %d bytes, but its message has room for %d", len(body), size)
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
	return nil
}

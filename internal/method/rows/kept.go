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

// keptFit holds the fit that prepares and scales all columns of a dictionary. Each party of a job
// of kind Fit keeps one.
type keptFit struct {
	table      string // the table's name in catalogues
	dictionary string // the hash of the dictionary
	scale      job.Scaling
	made       *prepare.Preparation // the preparation of all columns
	scaling    scale.Scaling        // the common scaling of these columns; empty if the parties fit none
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

// decodeKept decodes a kept fit and the zeros that pad it.
func decodeKept(b []byte) (k keptFit, err error) {
	r := wire.NewReader(b)
	r.Magic(len(method.FitMagic), method.FitMagic, "rows: the fit begins with %q, which is another format")
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
			r.Fail(errors.New("rows: the padding of the fit is not zero"))
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

// maxHash is the largest number of hexadecimal digits of a hash.
const maxHash = 64

// WriteFit writes the party's fit. Later jobs with the same dictionary prepare their rows with it.
func (p *Party) WriteFit(to io.Writer) error {
	if !p.HasFitted() {
		return errors.New("rows: the job has not fitted all values of its preparation and scaling")
	}
	d := &p.Job.Data
	k := keptFit{table: d.Source, dictionary: d.Dictionary.Hash(), scale: d.Scale, made: p.Split.Prepared}
	if d.ScalesTogether() {
		if !slices.Equal(p.Split.Set.Columns, k.made.Names()) {
			return errors.New("rows: the columns are in another order than the dictionary's columns")
		}
		k.scaling = p.Scaling
	}
	_, err := to.Write(k.encode())
	return err
}

// FitRelease describes what a job of kind Fit releases to the other parties. These are numbers and
// words over all columns of the dictionary.
func (p *Party) FitRelease() method.Release {
	r := p.Instance.Release(method.ReleaseFit, p.Self, p.label, p.read())
	r.Among, r.Edition = p.Split.Rows(false), p.edition.Without(p.Job.Data.Test)
	r.Fit = method.Fit{By: method.NewFit, Among: r.Among, Train: p.fitters()} // an earlier job can have fitted the same values for its own use
	return r
}

// noFit returns the error of a party that lacks the fit that the job names. Its text depends only
// on the job file.
func (p *Party) noFit() error {
	if p.Self == p.Parties[0] {
		return fault.Public(fault.BadInputf("%s no longer has the fit of job %v, which the first party must send; list first a party that has it, or write a new dictionary", p.Self, p.Job.Data.Fit.Job))
	}
	return fault.Public(fault.BadInputf(`%s no longer has the fit of job %v; submit the job with "fit: {job: %v, told: [%s]}" in data; then the first party sends the fit`, p.Self, p.Job.Data.Fit.Job, p.Job.Data.Fit.Job, p.Self))
}

// errWrongFit reports that a kept fit does not match the job.
var errWrongFit = errors.New("the fit that the job names belongs to another dictionary or table, or has another scaling; remove \"fit\" from the job file")

// prepareByKept prepares the rows with an encoded fit that the party has kept from an earlier job.
func (p *Party) prepareByKept(kept []byte) error {
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

// takeKept prepares and scales the job's columns with a kept fit. The fit covers all columns of the
// dictionary.
func (p *Party) takeKept(k keptFit) error {
	d := &p.Job.Data
	if k.dictionary != d.Dictionary.Hash() || k.scale != d.Scale || k.table != d.Source {
		return errors.New("rows: the dictionary, table or scaling of the fit differs from the job's")
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
			return errors.New("rows: the fit lacks the scaling of a column")
		}
		p.Scaling = scale.Scaling{Offset: linalg.At(k.scaling.Offset, at), Factor: linalg.At(k.scaling.Factor, at)}
	}
	p.kept = k.encode()
	if p.raw == nil { // the preparation of the job's columns needs no fitted values
		p.scaled()
		return nil
	}
	return p.prepareWith(made)
}

// keptSteps returns the steps of a job that reuses an earlier job's fit. Newcomers receive the fit.
// Then every party states a digest of its preparation and scaling, because these must be equal.
func keptSteps(c method.Instance) []Step {
	var steps []Step
	if len(c.Job.Data.Fit.Told) > 0 {
		steps = append(steps, Step{Name: "fit-broadcast", Session: among(c, collective.BroadcastName, collective.BroadcastVersion, collective.EncodeBroadcast(keptBytes(c.Job))), Party: (*Party).tellFit, Releases: releasesFits})
	}
	return append(steps, preparedStep(c))
}

// keptBytes is the size of the message that sends a fit to newcomers. It follows from the job file,
// so the size does not reveal on how many words the parties have agreed.
func keptBytes(j *job.Job) int {
	d := j.Data.Dictionary
	columns := 0 // the largest possible number of prepared columns
	for _, c := range d.Columns {
		columns += 3 + len(c.Categories)
	}
	agreed := len(d.Columns.Agrees())
	columns += agreed * prepare.MaxUnited
	return 64<<10 + 3*len(d.Encode()) + 128*len(d.Columns) + 16*columns + agreed*unionBytes
}

// tellFit builds the machine in which the leader sends its fit. Newcomers take over this fit. All
// other parties compare it with their own fit.
func (p *Party) tellFit(s method.Setup) (*method.Run, error) {
	p.setFitParties(s)
	return p.tell(s, func() ([]byte, error) { return padded(p.kept, keptBytes(p.Job)) }, p.hearFit)
}

// padded appends zeros to a body up to the given size. It refuses a body that is larger.
func padded(body []byte, size int) ([]byte, error) {
	if len(body) > size {
		return nil, fmt.Errorf("rows: the fit has %d bytes; its message has room for at most %d", len(body), size)
	}
	return append(slices.Clone(body), make([]byte, size-len(body))...), nil
}

func (p *Party) hearFit(b []byte) error {
	leader := p.fit.among[0]
	if p.kept != nil {
		own, err := padded(p.kept, len(b))
		if err != nil || !bytes.Equal(own, b) {
			return protocol.Blame(leader, protocol.KindInconsistent, errors.New("rows: the leader's fit differs from the fit that this party has kept"))
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

package stage

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/broadcast"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// worker is a party's machine of the session that adds up phases.
func (p *Party) worker(setup Setup) (*Run, error) {
	params, err := fdskl.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	in, err := p.phases(setup, params)
	if err != nil {
		return nil, err
	}
	active := setup.Session.With(protocol.RoleLeader)
	keys := setup.Keys(active)
	index := slices.Index(active, p.Self)
	if index < 0 {
		m, err := fdskl.NewPassive(setup.Setup, in, fdskl.Identity{Keys: keys})
		if err != nil {
			return nil, err
		}
		return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return p.added(setup) }}, nil
	}
	train, _, err := heldOutSizes(p.Job, params.Spec().Rows)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if p.vertical.training, err = p.lessons(index, train, setup.Seed); err != nil {
		return nil, fault.BadInput(err)
	}
	m, err := fdskl.NewActive(setup.Setup, in, fdskl.Identity{Sign: setup.Sign, Keys: keys}, p.vertical.training)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		if err := p.vertical.training.failure(); err != nil {
			return fault.BadInput(err)
		}
		return p.added(setup)
	}}, nil
}

// added notes the session that the model comes from.
func (p *Party) added(setup Setup) error {
	p.parent = setup.Session.ID()
	return nil
}

// lessons are what the active worker with this index learns by.
func (p *Party) lessons(index, train int, seed [32]byte) (training, error) {
	if job.As[*fdsklKeys](p.Job.Protocol).Active > 1 {
		return newPartner(p.Job, p.split.Set.Labels, train, index, seed)
	}
	return newTraining(p.Job, p.split.Set.Labels, train, seed)
}

// phases are the party's own, under directions that nobody else knows; in mode
// paper, under common ones, which follow from the session's name.
func (p *Party) phases(setup Setup, params fdskl.Params) (fdskl.Input, error) {
	kernel, err := gammaOf(p.Job, p.vertical.declared)
	if err != nil {
		return fdskl.Input{}, err
	}
	d := directionsOf{kernel: kernel, key: prg.Derive(setup.Seed, "fdskl/directions"), common: setup.Session.ID()}
	if p.Job.Protocol.Mode() == job.Paper {
		d.key, d.before = d.common, p.columnsBefore()
	}
	p.vertical.directions = d
	source, err := d.phases(p.rows, params.Spec().Bits)
	return fdskl.Input{Source: source, Hash: d.hash(p.rows), Rows: p.split.Set.X.Rows(), Alignment: p.vertical.declared.digest}, err
}

// columnsBefore counts the columns of the parties that the job names earlier.
func (p *Party) columnsBefore() int {
	n := 0
	for i, name := range p.Job.Parties() {
		if name == p.Self {
			break
		}
		n += p.vertical.declared.list[i].columns.Columns
	}
	return n
}

// directionsOf is where some columns' entries of directions come from.
type directionsOf struct {
	kernel job.Kernel
	key    [32]byte // of the entries
	common [32]byte // of the scales, which all columns share
	before int      // columns under the same key
}

// phases are those of rows.
func (d directionsOf) phases(rows linalg.Rows, bits int) (fdskl.Source, error) {
	spectrum, err := spectrumOf(d.kernel)
	if err != nil {
		return nil, err
	}
	_, width := rows.Shape()
	return feature.NewPhases(rows, feature.Directions{
		Spectrum: spectrum, Columns: width,
		Entries: func(block, column int) feature.Numbers {
			return prg.New(d.key, "fdskl/entries", number(block), number(d.before+column))
		},
		Scales: func(block int) feature.Numbers { return prg.New(d.common, "fdskl/scales", number(block)) },
	}, bits), nil
}

func number(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }

// hash names what phases are computed from.
func (d directionsOf) hash(rows linalg.Rows) [sha256.Size]byte {
	h := sha256.New()
	h.Write(d.key[:])
	n, width := rows.Shape()
	row, line := make([]float64, width), make([]byte, 0, 8*width)
	for i := range n {
		rows.ReadRow(i, row)
		line = line[:0]
		for _, v := range row {
			line = binary.LittleEndian.AppendUint64(line, math.Float64bits(v))
		}
		h.Write(line)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// spectrumOf is the distribution of a kernel's directions.
func spectrumOf(k job.Kernel) (feature.Spectrum, error) {
	if k.Name == job.LaplacianProduct {
		return feature.Manhattan(k.Gamma), nil
	}
	return feature.SpectrumOf(k.Spec())
}

// teller is the label holder's machine of the finding. It learns on the way.
func (p *Party) teller(setup Setup) (*Run, error) {
	v, err := p.learn(setup.Interrupt)
	if err != nil {
		return nil, err
	}
	m, err := broadcast.NewServer(setup.Setup, v.encode(p.Job.Learner.Name))
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error { return nil }}, nil
}

// learn ends the training, unless it is interrupted, and measures it on held-out
// rows.
func (p *Party) learn(interrupt func() error) (finding, error) {
	t := p.vertical.training
	got, err := t.learn(interrupt)
	if err != nil {
		return finding{}, fault.BadInput(err)
	}
	p.vertical.learnt = got
	labels := p.split.Set.Labels
	m, err := t.outputs().Measure(got.decisions, labels[len(labels)-got.decisions.Cols:])
	return finding{Learned{m, got.left}, got.hash()}, err
}

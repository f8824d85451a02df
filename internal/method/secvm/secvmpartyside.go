package secvm

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Party is the state of a device in a job of secure sums. It has one labelled record and the last
// weights that it received.
type Party struct {
	Summed
	record secvm.Record
	device *secvm.Device // the device with its role; nil before it draws the role
	model  LinearModel
}

// newParty returns a device with its person's record. It refuses a model that exceeds the device's limits,
// which are the default limits except for the cohort that the operator sets.
func newParty(c method.Instance, _ string, t method.Table) (*Party, error) {
	s, err := summedOf(c)
	if err != nil {
		return nil, err
	}
	limits := secvm.Limits{Cohort: c.Limits.Cohort}.OrDefaults()
	if err := limits.Check(s.Params); err != nil {
		return nil, fault.Forbidden(err)
	}
	classes := [2]string(KeysOf(c.Job).Classes)
	record, err := recordOf(s.Params, classes, t)
	return &Party{Summed: s, record: record, model: LinearModel{Params: s.Params, Classes: classes}}, err
}

// Draw draws the device's role. If the record needs more packages than a window allows, Draw also
// draws a sample of the record.
func (p *Party) Draw(secret func(label string) [32]byte) (err error) {
	seeds := drawn(secret)
	p.record.Vector = p.record.Vector.Sample(p.Params.Room(), seeds.Random())
	p.device, err = secvm.NewDevice(p.Params, p.record, seeds.Cast(p.Job.Data.Test.Fraction))
	return err
}

// recordOf converts a device's table, which has one row, to a labelled record.
func recordOf(p secvm.Params, classes [2]string, t method.Table) (secvm.Record, error) {
	switch {
	case t.Set == nil:
		return secvm.Record{}, errors.New("secvm: a device needs a record, but the file has ratings; give a table with one row")
	case t.Set.X.Rows() != 1:
		return secvm.Record{}, fmt.Errorf("%s has %d rows; a device must have exactly one", t.Set.Name, t.Set.X.Rows())
	case t.Set.Labels == nil:
		return secvm.Record{}, fmt.Errorf("%s has no labels; name the label column", t.Set.Name)
	}
	names := Features(t.Set.X, 0)
	if err := p.CheckNames(names); err != nil {
		return secvm.Record{}, fmt.Errorf("%s: %w", t.Set.Name, err)
	}
	r := secvm.Record{Vector: p.Vector(names), Label: -1}
	switch label := t.Set.Labels[0]; label {
	case classes[0]:
	case classes[1]:
		r.Label = 1
	default:
		return secvm.Record{}, fmt.Errorf("%s has label %q; the classes are %q and %q", t.Set.Name, label, classes[0], classes[1])
	}
	return r, nil
}

// add builds the machine with which the device contributes to a secure sum. The device's summand
// depends on the announced weights.
func (p *Party) add(s method.Setup) (*method.Run, error) {
	w, err := p.decodeAnnounced(s.Announced)
	if err != nil {
		return nil, err
	}
	summand, err := p.device.Summand(w)
	if err != nil {
		return nil, err
	}
	return sums.Client(s, summand, func() { p.model.Weights = w.Values() })
}

// writeModel writes the model with the weights of the last window.
func (p *Party) writeModel(w io.Writer) error {
	_, err := w.Write(p.model.Encode())
	return err
}

// SeedsOf derives a device's seeds from a common seed of all devices. Simulations use it, and
// comparisons of real devices with a simulation.
func SeedsOf(seed func(label string) [32]byte, row int) secvm.Seeds {
	return drawn(func(label string) [32]byte { return seed(fmt.Sprintf("%s/%d", label, row)) })
}

// drawn returns the seeds of a device's own draws, one for its role and one for other draws.
func drawn(draw func(label string) [32]byte) secvm.Seeds {
	return secvm.Seeds{Role: draw("role"), Own: draw("device")}
}

// Features returns the names of a row's features. A name is the number, counted from 1, of a column
// that is not zero. Devices hash the names, or use them unchanged.
func Features(t dataset.Table, row int) []string {
	var names []string
	t.Each(row, func(col int, value float64) {
		if value != 0 {
			names = append(names, strconv.Itoa(col+1))
		}
	})
	return names
}

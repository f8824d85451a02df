// Package local plays a job of SecVM in one process. The process runs the server and a device for
// each row of a table.
//
//	protocol (all windows) -> evaluate -> compare
//
// It has no tokens and no relay; see package gateway for these. No daemon links it.
package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/secvm"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	secvmmachines "github.com/mercer-fl/mercer/protocol/secvm"
)

// Support returns the function by which a process that owns all records plays a job of SecVM.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: secvm.Protocol().Name(), Play: play}
}

// play runs every member of a job in this process. Each row is a device that answers every window with packages,
// encoded and counted one by one: with the same number each time, except in mode paper. With the aggregation "secagg",
// every window is a secure sum, in which each device has its own keys, masks and shares.
func play(ctx context.Context, c local.Play) (*method.Result, error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	return p.play(ctx)
}

func (p people) play(ctx context.Context) (*method.Result, error) {
	first := time.Now()
	p, err := p.withBins()
	if err != nil {
		return nil, fault.BadInput(err)
	}
	roles, err := drawRoles(p)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	r, err := enlist(p, roles)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return r.result, local.Run(ctx, first, r.result, []local.Step{{Name: "protocol", Do: r.train}, {Name: "evaluate", Do: r.evaluate}, {Name: "compare", Do: r.compare}})
}

// people holds a job and the records of all people. Each record belongs to one device.
type people struct {
	local.Play
	rows    *dataset.Set
	heldOut *dataset.Set // records of devices that only test; nil if devices draw their roles
}

// read reads the tables that the job names.
func read(c local.Play) (p people, err error) {
	p.Play = c
	if p.rows, err = c.Rows(c.Job.Data.Source); err == nil && c.Job.Data.Test.Source != "" {
		p.heldOut, err = c.Rows(c.Job.Data.Test.Source)
	}
	return p, err
}

// withBins sets the number of bins of a job without hashing, if the job does not state it. Such a job has a
// bin for each column, so the number of bins is the number of columns of the tables.
func (p people) withBins() (people, error) {
	k := *secvm.KeysOf(p.Job)
	if !k.Unhashed() {
		return p, nil
	}
	columns := p.rows.X.Cols()
	if p.heldOut != nil {
		columns = max(columns, p.heldOut.X.Cols())
	}
	most := secvmmachines.DefaultLimits().Bins
	switch {
	case k.Bins == 0:
		k.Bins = columns
	case k.Bins < columns:
		return p, fmt.Errorf("%s has %d columns, but \"bins\" is only %d; raise \"bins\", or remove the key", p.rows.Name, columns, k.Bins)
	}
	if k.Bins > most {
		return p, fmt.Errorf("%s has %d columns, but devices take part in models of at most %d; remove \"features: columns\", so that the columns are hashed", p.rows.Name, k.Bins, most)
	}
	j := *p.Job
	j.Protocol.Values = &k
	p.Job = &j
	return p, nil
}

// records holds the state of a played job, in which each device has one labelled record.
type records struct {
	people
	server   *secvm.Training
	classes  [2]string
	devices  []*secvmmachines.Device
	random   []secvmmachines.Random
	profiles []secvmmachines.Record // the records before sampling; the comparisons use them
	roles    []secvmmachines.Role
	sampled  int // the number of records that need more packages than a window allows
	result   *method.Result
	figures  *secvm.Figures // the figures of the result; nil before the evaluation
	last     secvm.Window   // the result of the last window
	curve    *averages
	summing  *summing // the state of secure sums; nil if the server counts packages
}

// enlist creates a device for every row and prepares the job's training.
func enlist(c people, roles []secvmmachines.Role) (*records, error) {
	r := &records{people: c, roles: roles}
	labels := c.rows.Labels
	if c.heldOut != nil {
		labels = append(labels[:len(labels):len(labels)], c.heldOut.Labels...)
	}
	var err error
	if r.classes, err = twoClasses(c.Job, labels); err != nil {
		return nil, fmt.Errorf("%s: %w", c.rows.Name, err)
	}
	if r.server, err = secvm.NewTraining(c.Job, r.classes); err != nil {
		return nil, err
	}
	r.curve = newAverages()
	r.add(c.rows)
	if c.heldOut != nil {
		r.add(c.heldOut)
	}
	if err := r.checkCohort(); err != nil {
		return nil, err
	}
	if len(r.devicesWith(secvmmachines.Test)) == 0 {
		return nil, fmt.Errorf("%s leaves no device for testing; hold more rows out", c.rows.Name)
	}
	if secvm.KeysOf(c.Job).Aggregation == secvm.SecureSum {
		r.summing = newSumming(c, r.server.Params(), len(r.devices))
	}
	r.result = &method.Result{
		Job: c.Job.Name, Timings: map[string]float64{}, Grid: []learner.Cell{},
		Training: len(r.devicesWith(secvmmachines.Train)), HeldOut: len(r.devicesWith(secvmmachines.Test)),
	}
	return r, nil
}

func newAverages() *averages { return &averages{counts: []int{1, 2, 5, 10, 50}} }

func newSumming(c people, p secvmmachines.Params, devices int) *summing {
	all := clients.New(c.Job, devices, c.Seed, c.Progress)
	return &summing{Clients: all, exact: true, windows: secvm.Summed{
		Job: c.Job, ID: all.ID, Roster: all.Roster, Server: clients.Server, Params: p,
	}}
}

// checkCohort refuses a job whose windows could have too few participants. It assumes that all
// devices that drop out are training devices.
func (r *records) checkCohort() error {
	cohort, vanish := secvm.KeysOf(r.Job).Cohort, sums.Share(r.Job.Data.Partition.Dropout, len(r.devices))
	switch n := len(r.devicesWith(secvmmachines.Train)); {
	case n < cohort:
		return fmt.Errorf("%s: %d devices train, but a step requires at least %d participants; lower \"cohort\"", r.rows.Name, n, cohort)
	case n-vanish < cohort:
		return fmt.Errorf("%s: %d devices train, %d may vanish in a window, but a step requires at least %d participants; lower \"cohort\" or \"dropout\"", r.rows.Name, n, vanish, cohort)
	}
	return nil
}

// twoClasses returns the classes that the job names or, by default, the classes of the labels.
func twoClasses(j *job.Job, labels []string) ([2]string, error) {
	if labels == nil {
		return [2]string{}, fmt.Errorf("the table has no label column %q", j.Data.Label)
	}
	found, _ := dataset.Classes(labels)
	if len(found) != 2 {
		return [2]string{}, fmt.Errorf("the labels have %d classes; secvm needs two", len(found))
	}
	named := secvm.KeysOf(j).Classes
	if len(named) == 0 {
		return [2]string(found), nil
	}
	for _, class := range found {
		if class != named[0] && class != named[1] {
			return [2]string{}, fmt.Errorf("the labels have a class %q, which is not among the job's classes", class)
		}
	}
	return [2]string(named), nil
}

// drawRoles returns the role of each device. Devices draw their roles, unless the job names the
// held-out rows.
func drawRoles(c people) ([]secvmmachines.Role, error) {
	rows := c.rows.X.Rows()
	roles := make([]secvmmachines.Role, rows)
	switch t := c.Job.Data.Test; {
	case c.heldOut != nil:
		for range c.heldOut.X.Rows() {
			roles = append(roles, secvmmachines.Test)
		}
	case t.Every > 0:
		_, test, err := dataset.Every(rows, t.Every)
		if err != nil {
			return nil, err
		}
		for _, i := range test {
			roles[i] = secvmmachines.Test
		}
	default:
		for i := range roles {
			roles[i] = secvm.SeedsOf(c.Seed, i).Cast(t.Fraction)
		}
	}
	return roles, nil
}

// add creates a device for each row of a table. It samples records with more units than packages
// once, as a device would.
func (r *records) add(s *dataset.Set) {
	p := r.server.Params()
	for i := range s.X.Rows() {
		n := len(r.profiles)
		record := secvmmachines.Record{Vector: p.Vector(secvm.Features(s.X, i)), Label: 1}
		if s.Labels[i] == r.classes[0] {
			record.Label = -1
		}
		r.profiles = append(r.profiles, record)
		r.random = append(r.random, secvm.SeedsOf(r.Seed, n).Random())
		if record.Vector.Units() > p.Room() {
			record.Vector = record.Vector.Sample(p.Room(), r.random[n])
			r.sampled++
		}
		d, err := secvmmachines.NewDevice(p, record, r.roles[n])
		if err != nil {
			panic(err) // cannot fail, because this function made the record
		}
		r.devices = append(r.devices, d)
	}
}

// train runs all windows and saves the model.
func (r *records) train(ctx context.Context) error {
	total := learner.StepsOf(r.Job).Iterations + 1
	for !r.server.Done() {
		iteration, weights := r.server.Published()
		r.follow(int(iteration), weights)
		if err := r.step(ctx); err != nil {
			return err
		}
		if iteration == 0 {
			r.leak()
		}
		if r.Progress != nil {
			r.Progress(protocol.Progress{Stage: "windows", Done: int64(iteration) + 1, Total: int64(total)})
		}
	}
	return local.SaveModel(r.result, "gateway", filepath.Join(r.Dir, "model"), r.server.Model().Encode())
}

// step runs one window, and the server's training step after it.
func (r *records) step(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	iteration, weights := r.server.Published()
	if r.summing != nil {
		r.last, err = r.sumUp(ctx, iteration, weights)
	} else {
		r.last, err = r.countUp(iteration, weights)
	}
	if err != nil {
		return err
	}
	over, err := r.server.Close(r.last)
	if err == nil && !over {
		err = errors.New("secvm: the window has too few participants for a step") // cannot happen, because enlist checks the number of participants
	}
	return err
}

// countUp runs a window of anonymous packages and returns the server's counts. It counts in shards.
func (r *records) countUp(iteration uint32, published []float64) (*secvmmachines.Tally, error) {
	weights, err := r.server.Params().Weights(published)
	if err != nil {
		return nil, err
	}
	const shards = 8 // few shards, because each tally takes memory for every bin
	shard := (len(r.devices) + shards - 1) / shards
	tallies, errs := make([]*secvmmachines.Tally, shards), make([]error, shards)
	linalg.For(shards, 1, func(lo, hi int) {
		for s := lo; s < hi; s++ {
			tallies[s] = secvmmachines.NewTally(r.server.Params())
			for i := s * shard; i < min((s+1)*shard, len(r.devices)); i++ {
				errs[s] = errors.Join(errs[s], r.deliver(tallies[s], i, iteration, weights))
			}
		}
	})
	total := secvmmachines.NewTally(r.server.Params())
	for s, t := range tallies {
		if errs[s] != nil {
			return nil, errs[s]
		}
		if err := total.Merge(t); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// deliver encodes one device's packages, decodes them and adds them to the tally.
func (r *records) deliver(t *secvmmachines.Tally, device int, iteration uint32, weights secvmmachines.Weights) error {
	packages, err := r.answer(device, iteration, weights)
	if err != nil {
		return err
	}
	var b [secvmmachines.PackageSize]byte
	for _, one := range packages {
		arrived, err := secvmmachines.DecodePackage(one.Append(b[:0]))
		if err != nil {
			return err
		}
		if err := t.Add(arrived); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) answer(device int, iteration uint32, weights secvmmachines.Weights) ([]secvmmachines.Package, error) {
	if r.Job.Protocol.Mode() == job.Paper {
		return r.devices[device].AnswerAsPublished(iteration, weights)
	}
	return r.devices[device].Answer(iteration, weights, r.random[device])
}

// leak computes the leakage statement from the first window, in which every training device sends its
// record.
func (r *records) leak() {
	switch w := r.last.(type) {
	case *secvmmachines.Tally:
		facts := secvm.Facts{Params: r.server.Params(), Published: r.Job.Protocol.Mode() == job.Paper, Participants: w.Count(), Rare: secvm.Rare(w)}
		r.result.Leakage, r.result.Exposures = secvm.Leakage(facts), secvm.Exposures(facts)
	case *secvmmachines.Sum:
		windows, devices := r.summing.windows, len(r.devices)
		r.result.Leakage, r.result.Exposures = windows.Leakage(secvm.SumFactsOf(w), devices), windows.Exposures(devices)
	}
}

package simulate

import (
	"github.com/mercer-fl/mercer/internal/method/fedcfk"

	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// CrowdConfig says how to simulate a job of protocol fedcfk.
type CrowdConfig struct {
	Job      *job.Job
	Ratings  *dataset.Ratings // with all ratings of all people
	Dir      string           // for the kernel between items
	Seed     func(label string) [32]byte
	Progress func(protocol.Progress)
}

// Crowd runs the job: every person's device goes through both sums with keys,
// masks and shares of its own, and then recommends to itself. Comparisons, and
// whether the sums are exact, are computed on the side, from data that no server
// would have.
func Crowd(ctx context.Context, c CrowdConfig) (*method.Result, error) {
	first := time.Now()
	p, err := gather(c)
	if err != nil {
		return nil, err
	}
	result := &method.Result{Job: c.Job.Name, Timings: map[string]float64{}, Grid: []method.Cell{}, Crowd: &method.CrowdResult{
		Source: c.Ratings.Name, People: len(p.names), Items: p.crowd.Items,
	}}
	for _, profile := range p.train {
		result.Crowd.Ratings += len(profile)
	}
	p.result = result
	for _, step := range steps(p) {
		began := time.Now()
		if err := step.do(ctx); err != nil {
			return nil, err
		}
		result.Timings[step.name] = time.Since(began).Seconds()
	}
	result.Timings["total"] = time.Since(first).Seconds()
	return result, nil
}

// step is a stage of a job.
type step struct {
	name string
	do   func(context.Context) error
}

func steps(p *people) []step {
	if p.Job.Protocol.Mode() == job.Paper {
		m := newMerging(p)
		return []step{{"rounds", m.rounds}, {"learn", m.learn}, {"evaluate", m.evaluate}, {"compare", m.compare}}
	}
	r := &recommending{people: p}
	return []step{{"popularity", r.popularity}, {"triangle", r.triangle}, {"learn", r.learn}, {"evaluate", r.evaluate}, {"compare", r.compare}}
}

// people is everybody with what they own.
type people struct {
	CrowdConfig
	*clients
	crowd       stage.Crowd
	result      *method.Result
	devices     []*stage.Device
	train, test [][]int
}

// gather splits the ratings and gives everybody a device and an identity.
func gather(c CrowdConfig) (*people, error) {
	p := &people{CrowdConfig: c}
	var err error
	if items := job.As[*fedcfk.Keys](c.Job.Protocol).Items; items != nil {
		if p.Ratings, err = c.Ratings.Within(items); err != nil {
			return nil, fault.BadInput(err)
		}
	}
	if p.train, p.test, err = stage.SplitRatings(c.Job, p.Ratings); err != nil {
		return nil, fault.BadInput(err)
	}
	p.clients = newClients(c.Job, len(p.train), c.Seed, c.Progress)
	p.crowd = stage.Crowd{Job: c.Job, ID: p.id, Roster: p.roster, Server: serverName, Items: len(p.Ratings.Items)}
	for i, liked := range p.train {
		p.devices = append(p.devices, stage.NewDevice(p.crowd, p.names[i], liked))
	}
	return p, nil
}

// recommending is a job under way.
type recommending struct {
	*people
	first, second *summed
	kept          []int
	kernel        *stage.ItemKernel
}

// popularity is the first sum.
func (r *recommending) popularity(ctx context.Context) error {
	s, err := r.crowd.Popularity(r.names)
	if err != nil {
		return err
	}
	r.first, err = r.add(ctx, s, r.leaving(s), func(d *stage.Device) secagg.Vector { return d.Popularity() })
	if err == nil {
		r.note(r.first)
	}
	return err
}

// add runs one secure sum among the people of a session, of whom some leave.
func (p *people) add(ctx context.Context, s stage.Summation, leavers map[string]string, vector func(device *stage.Device) secagg.Vector) (*summed, error) {
	return p.sum(ctx, s, leavers, func(i int) secagg.Vector { return vector(p.devices[i]) })
}

// leave says who vanishes from the second sum: who has from the first, and more.
func (r *recommending) leave(s stage.Summation) map[string]string {
	leavers := r.leavers(s.Session.Purpose, r.first.Stayed)
	for _, name := range r.first.added {
		if !slices.Contains(r.first.Stayed, name) {
			leavers[name] = firstKind
		}
	}
	return leavers
}

// triangle is the second sum, to which every device that is still there agrees.
func (r *recommending) triangle(ctx context.Context) error {
	s, kept, err := r.crowd.Pairs(r.first.Summation, r.first.added, r.first.sums[0])
	if err != nil {
		return err
	}
	proposal := stage.Proposal{Sums: r.first.sums[0], Session: s.Session.ID()}
	errs := make([]error, len(r.first.Stayed))
	linalg.For(len(errs), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			name := r.first.Stayed[i]
			_, _, errs[i] = r.devices[r.place[name]].Accept(r.first.Summation, r.first.heard[name], proposal)
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	r.kept = kept
	r.second, err = r.add(ctx, s, r.leave(s), func(d *stage.Device) secagg.Vector { return d.Pairs(kept) })
	if err == nil {
		r.note(r.second)
	}
	return err
}

func (p *people) note(s *summed) { p.result.Crowd.Sums = append(p.result.Crowd.Sums, s.figures()) }

// learn makes the kernel, as the devices get it.
func (r *recommending) learn(context.Context) error {
	added := r.second.added
	popularity := r.first.sums[0]
	kernel, err := r.crowd.ItemKernel(r.kept, popularity, r.second.sums[0], len(r.first.added))
	if err != nil {
		return err
	}
	broadcast := kernel.Encode()
	if r.kernel, err = stage.DecodeItemKernel(broadcast); err != nil {
		return err
	}
	if err := r.save(broadcast); err != nil {
		return err
	}
	for _, name := range added {
		r.result.Training += len(r.train[r.place[name]])
	}
	c := r.result.Crowd
	c.Cut, c.Kept, c.Broadcast = r.crowd.Cut(c.People, popularity), len(r.kept), len(broadcast)
	r.result.Leakage = r.crowd.Leakage(stage.CrowdFacts{
		People: c.People, First: r.first.added, Second: added, Sums: popularity, Kept: r.kept, Pairs: r.second.sums[0],
	})
	return nil
}

// save leaves the kernel between items in the job's folder.
func (p *people) save(kernel []byte) error {
	path := filepath.Join(p.Dir, "items.kernel")
	if err := disk.Replace(path, kernel); err != nil {
		return err
	}
	hash := sha256.Sum256(kernel)
	p.result.Models = []method.ModelFile{{Party: serverName, Path: path, SHA256: hex.EncodeToString(hash[:])}}
	p.result.ModelHash = method.HashModels(p.result.Models)
	return nil
}

// evaluate lets every device recommend, also those that have vanished: they get
// the broadcast when they are back.
func (r *recommending) evaluate(context.Context) error {
	m := r.kernel.Model()
	return r.recommend(func(user int) ([]float64, error) {
		return r.devices[user].Recommend(m, r.kernel.Kept, r.first.sums[0], r.Job.Learner.Lambda)
	})
}

// Package local runs all members of a FedCFK job in one process. It serves jobs whose people are
// too many to have one process each, and jobs in mode paper, which run only here:
//
//	popularity -> triangle -> learn -> evaluate (each device by itself) -> compare
//	in mode paper:  rounds (each with requests for rows) -> learn -> evaluate -> compare
//
// It has the published attacks on mode paper. No daemon links it.
package local

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/internal/method/sums/local/clients"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Support returns FedCFK's functions for a process that owns all lists.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: fedcfk.Protocol().Name(), Play: play, Warnings: paperWarnings, Files: files}
}

// files returns the path of the table of all people's recommendations.
func files(r *method.Result) map[string]*string {
	return map[string]*string{"recommendations": &r.Details.(*fedcfk.Details).Devices.Recommendations}
}

// paperWarnings returns warnings of the published attacks if the job is in mode paper.
func paperWarnings(j *job.Job) []string {
	if j.Protocol.Mode() == job.Paper {
		return warnings(job.As[*fedcfk.Keys](j.Protocol))
	}
	return nil
}

// play runs every member of a job. Each person's device takes part in both sums, or in sums of mode paper, with
// its own keys, masks and shares, and then recommends to its person. play also checks the sums and makes
// comparisons, from data that no server would have.
func play(ctx context.Context, c local.Play) (*method.Result, error) {
	ratings, err := c.Ratings(c.Job.Data.Source)
	if err != nil {
		return nil, err
	}
	if os.Getenv("GOGC") == "" { // masks and keys of many clients fill the memory with garbage, so collect it more often
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	first := time.Now()
	p, err := gather(c, ratings)
	if err != nil {
		return nil, err
	}
	list, err := steps(p)
	if err != nil {
		return nil, err
	}
	return p.result, local.Run(ctx, first, p.result, list)
}

func steps(p *people) ([]local.Step, error) {
	if p.Job.Protocol.Mode() == job.Paper {
		m := newMerging(p)
		return []local.Step{{Name: "rounds", Do: m.rounds}, {Name: "learn", Do: m.learn}, {Name: "evaluate", Do: m.evaluate}, {Name: "compare", Do: m.compare}}, nil
	}
	r, err := newJobRun(p)
	return []local.Step{{Name: fedcfk.Popularity, Do: r.runFirstSum}, {Name: fedcfk.Triangle, Do: r.runSecondSum}, {Name: fedcfk.Learn, Do: r.learn}, {Name: "evaluate", Do: r.evaluate}, {Name: "compare", Do: r.compare}}, err
}

func newMerging(p *people) *merging {
	m := &merging{people: p, exact: true, catalogue: dataset.Complement(p.setting.Items, nil), estimate: NewEstimate(p.setting.Items),
		differences: NewDifferences(len(p.Names)), intersection: NewIntersection(p.setting, len(p.Names))}
	for i, name := range p.Names {
		m.devices = append(m.devices, NewPaperDevice(p.setting, p.train[i], prg.New(p.Seed("requests/"+name), "simulate/requests")))
	}
	p.figures.Paper = &fedcfk.PaperFigures{Rounds: p.setting.Keys().Rounds}
	return m
}

// people holds the lists and devices of all people.
type people struct {
	local.Play
	*clients.Clients
	ratings     *dataset.Ratings // all ratings of all people
	setting     fedcfk.Devices
	result      *method.Result
	figures     *fedcfk.Figures // the result's figures
	devices     []fedcfk.Device
	train, test [][]int
	rated       [][]int64 // each person's ratings of the items in train; nil entries in a job without ratings
}

// gather splits the ratings and makes a device and an identity for each person.
func gather(c local.Play, ratings *dataset.Ratings) (*people, error) {
	p := &people{Play: c, ratings: ratings}
	var err error
	if items := job.As[*fedcfk.Keys](c.Job.Protocol).Items; items != nil {
		if p.ratings, err = ratings.Within(items); err != nil {
			return nil, fault.BadInput(err)
		}
	}
	if p.train, p.test, err = fedcfk.Split(c.Job, p.ratings); err != nil {
		return nil, fault.BadInput(err)
	}
	p.Clients = clients.New(c.Job, len(p.train), c.Seed, c.Progress)
	p.setting = fedcfk.Devices{
		Instance: method.Instance{Job: c.Job, ID: p.ID, Coordinator: clients.Server, Parties: p.Names},
		Items:    len(p.ratings.Items),
	}
	p.figures = &fedcfk.Figures{Source: ratings.Name, People: len(p.Names), Items: p.setting.Items}
	p.result = &method.Result{Job: c.Job.Name, Timings: map[string]float64{}, Grid: []learner.Cell{}, Details: &fedcfk.Details{Devices: p.figures}}
	if p.rated, err = p.setting.Rated(p.ratings, p.train); err != nil {
		return nil, err
	}
	for i, liked := range p.train {
		p.devices = append(p.devices, fedcfk.Device{Devices: p.setting, Liked: liked, Rated: p.rated[i]})
		p.figures.Ratings += len(liked)
	}
	return p, nil
}

// jobRun holds all members of a job that this process runs. It runs their plan up to the broadcast
// of the kernel.
type jobRun struct {
	*people
	plan          []method.Step
	server        *fedcfk.Server
	parties       []*fedcfk.Party
	first, second *clients.Sum
	kernel        *fedcfk.ItemKernel
}

func newJobRun(p *people) (*jobRun, error) {
	plan, err := p.setting.Plan()
	r := &jobRun{people: p, plan: plan, server: p.setting.Server()}
	for i, liked := range p.train {
		party := p.setting.Party(liked)
		party.Rated = p.rated[i]
		r.parties = append(r.parties, party)
	}
	return r, err
}

// runFirstSum runs the sum of all lists of likes. To continue, clients need only the sum's public
// result.
func (r *jobRun) runFirstSum(ctx context.Context) (err error) {
	opened, err := r.sumSession(popularity, r.server.Public(), nil)
	if err != nil {
		return err
	}
	lists := make([]secagg.Vector, len(r.devices))
	for i, d := range r.devices {
		lists[i] = d.Likes()
	}
	if r.first, err = r.runSum(ctx, opened, lists, r.Leaving, r.server.CountFirst); err != nil {
		return err
	}
	r.server.EndedFirst(r.first.End())
	for _, name := range r.first.Stayed {
		r.parties[r.Place[name]].NoteFirst(r.first.Summation, r.first.Heard[name])
	}
	return nil
}

// runSecondSum runs the sum over pairs of items. It first checks that all remaining devices derive
// the same session.
func (r *jobRun) runSecondSum(ctx context.Context) (err error) {
	announced, err := r.server.AnnouncePairs()
	if err != nil {
		return err
	}
	opened, err := r.sumSession(triangle, r.server.Public(), announced)
	if err != nil {
		return err
	}
	lists, err := r.secondVectors(opened.ID(), announced)
	if err != nil {
		return err
	}
	if r.second, err = r.runSum(ctx, opened, lists, r.secondLeavers, r.server.CountSecond); err != nil {
		return err
	}
	r.server.EndedSecond(r.second.End())
	return nil
}

// secondLeavers returns the clients that drop out of the second sum. They include those that dropped
// out of the first after their lists were in it.
func (r *jobRun) secondLeavers(s sums.Summation) map[string]string {
	leavers := r.Leavers(s.Session.Purpose, r.first.Stayed)
	for _, name := range r.first.Added {
		if !slices.Contains(r.first.Stayed, name) {
			leavers[name] = clients.FirstKind
		}
	}
	return leavers
}

// Indices of the two sums in the plan.
const (
	popularity = iota
	triangle
)

// runSum runs a sum and passes the result to the server.
func (r *jobRun) runSum(ctx context.Context, opened *protocol.Session, lists []secagg.Vector, leaving func(sums.Summation) map[string]string,
	count func(sums.Summation, []string, [][]int64) error) (*clients.Sum, error) {
	params, err := secagg.DecodeParams(opened.Params)
	if err != nil {
		return nil, err
	}
	s := sums.Summation{Session: opened, Params: params}
	sum, err := r.Sum(ctx, s, leaving(s), func(i int) secagg.Vector { return lists[i] })
	if err != nil {
		return nil, err
	}
	return sum, count(s, sum.Added, sum.Sums)
}

// sumSession returns the session of a sum that a member derives from its own public values.
func (r *jobRun) sumSession(at int, public method.Public, announced []byte) (*protocol.Session, error) {
	next, err := r.plan[at].Session.After(public, announced)
	if err != nil {
		return nil, err
	}
	return protocol.NewSession(next.Descriptor(r.ID, at, r.Roster, 1))
}

// secondVectors returns the vectors that the remaining devices add to the second sum. Each device
// must derive the server's session by itself.
func (r *jobRun) secondVectors(of protocol.SessionID, announced []byte) ([]secagg.Vector, error) {
	there := r.first.Stayed
	lists, errs := make([]secagg.Vector, len(r.parties)), make([]error, len(there))
	for i := range lists {
		lists[i] = fedcfk.Likes(nil)
	}
	linalg.For(len(errs), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at := r.Place[there[i]]
			own, err := r.sumSession(triangle, r.parties[at].Public(), announced)
			if err == nil && own.ID() != of {
				err = fmt.Errorf("fedcfk: %s derives a different second sum than the server", there[i])
			}
			if err == nil {
				lists[at], err = r.parties[at].Agreed(announced)
			}
			errs[i] = err
		}
	})
	return lists, errors.Join(errs...)
}

// learn computes the kernel that the server broadcasts.
func (r *jobRun) learn(ctx context.Context) error {
	if err := r.server.Learn(ctx, nil); err != nil {
		return err
	}
	var broadcast bytes.Buffer
	if err := r.server.WriteModel(&broadcast); err != nil {
		return err
	}
	var err error
	if r.kernel, err = fedcfk.DecodeItemKernel(broadcast.Bytes()); err != nil {
		return err
	}
	if err := r.save(broadcast.Bytes()); err != nil {
		return err
	}
	for _, name := range r.second.Added {
		r.result.Training += len(r.train[r.Place[name]])
	}
	public, err := r.server.Result()
	if err != nil {
		return err
	}
	d, err := method.DetailsOf[fedcfk.Details](public)
	if err != nil {
		return err
	}
	c, k := r.figures, d.Devices
	c.Cut, c.Kept, c.Broadcast, c.Sums, r.result.Leakage = k.Cut, k.Kept, k.Broadcast, k.Sums, public.Leakage
	r.result.Exposures = public.Exposures
	return nil
}

// save writes the encoded kernel between items to the job's folder.
func (p *people) save(kernel []byte) error {
	return local.SaveModel(p.result, clients.Server, filepath.Join(p.Dir, "items.kernel"), kernel)
}

// evaluate makes every device recommend, even devices that dropped out, so that the figures are of all
// people. Over a network the kernel goes only to the devices that stayed.
func (r *jobRun) evaluate(context.Context) error {
	m := r.kernel.Model()
	return r.recommend(func(user int) ([]float64, error) {
		return r.devices[user].Recommend(m, r.kernel.Kept, r.setting.Popularity(r.first.Sums[0]))
	})
}

// maxShown is the greatest number of recommendations in a result.
const maxShown = 5

// recommend computes and evaluates the recommendations of every device. It writes all of them to
// one file. Only a process that runs all devices has all recommendations; no server has them.
func (p *people) recommend(score func(user int) ([]float64, error)) (err error) {
	lists := make([][]method.Recommendation, len(p.train))
	keeping := func(user int) ([]float64, error) {
		scores, err := score(user)
		if err == nil {
			lists[user] = p.devices[user].Best(scores, p.ratings.Items)
		}
		return scores, err
	}
	p.result.Metrics, p.figures.Judged, err = learner.Ranking(p.setting.Items, p.train, p.test, keeping)
	if err != nil {
		return err
	}
	for _, profile := range p.test {
		p.result.HeldOut += len(profile)
	}
	errs := make([]error, len(lists))
	linalg.For(len(lists), 4, func(lo, hi int) {
		for user := lo; user < hi; user++ {
			if lists[user] == nil { // this person was not judged
				_, errs[user] = keeping(user)
			}
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	p.figures.Recommended = lists[0][:min(maxShown, len(lists[0]))]
	p.figures.Recommendations = filepath.Join(p.Dir, "recommendations.csv")
	return disk.ReplaceBy(p.figures.Recommendations, func(w io.Writer) error { return p.writeLists(w, lists) })
}

func (p *people) writeLists(w io.Writer, lists [][]method.Recommendation) error {
	out := csv.NewWriter(w)
	records := [][]string{{"user", "rank", "item", "score"}}
	for user, list := range lists {
		for rank, r := range list {
			records = append(records, []string{p.ratings.Users[user], strconv.Itoa(rank + 1), r.Item, strconv.FormatFloat(r.Score, 'f', 6, 64)})
		}
	}
	return out.WriteAll(records)
}

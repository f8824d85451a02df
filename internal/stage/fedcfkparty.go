package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// crowdParty is what a party has of a recommender: its own list, and what it was
// told.
type crowdParty struct {
	crowdKnown
	device      *Device // nil of other jobs
	popularity  []int64 // how many like each item, as the coordinator says
	recommended []Recommendation
}

// newCrowdParty takes one person's ratings.
func newCrowdParty(j *job.Job, self string, t Table) (*Party, error) {
	if t.Ratings == nil {
		return nil, errors.New("stage: a recommender needs ratings, and this is a table of rows; give lines of user, item and rating")
	}
	if n := len(t.Ratings.Users); n != 1 {
		return nil, fmt.Errorf("%s has ratings of %d people; a party brings those of one", t.Ratings.Name, n)
	}
	within, err := t.Ratings.Within(job.As[*fedcfkKeys](j.Protocol).Items)
	if err != nil {
		return nil, err
	}
	train, _, err := SplitRatings(j, within)
	if err != nil {
		return nil, err
	}
	p := &Party{Job: j, Self: self}
	p.crowd.device = NewDevice(newCrowd(j, ""), self, train[0])
	return p, nil
}

// SplitRatings returns what each person likes, to learn from and to be judged by:
// places in the list of items, ascending.
func SplitRatings(j *job.Job, all *dataset.Ratings) (train, test [][]int, err error) {
	liked := all
	if j.Data.Like != 0 {
		liked = all.Liked(j.Data.Like)
	}
	var in, out []int
	switch t := j.Data.Test; t.By {
	case job.Time:
		in, out, err = liked.Newest(t.Fraction)
	case job.UserTime:
		in, out, err = liked.NewestPerUser(t.Fraction)
	default:
		in, out, err = liked.EveryPerUser(t.Every)
	}
	return liked.Profiles(in), liked.Profiles(out), err
}

// addList is the machine that adds the party's vector.
func (p *Party) addList(setup Setup, params secagg.Params, t tally) (*Run, error) {
	id := secagg.Identity{Sign: setup.Sign, Keys: setup.Keys(setup.Session.With(protocol.RoleParty))}
	m, err := secagg.NewClient(setup.Setup, params, t.vector(p), id)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, InputHash: m.InputHash(), Finish: func() error {
		t.heard(p, heard{Summation{setup.Session, params}, m.Survivors()})
		return nil
	}}, nil
}

// server is who conducts the job, by the first sum.
func (p *Party) server() string { return p.crowd.first.Session.With(protocol.RoleServer)[0] }

// recommend checks the kernel and solves for the party's own recommendations.
func (p *Party) recommend(body []byte, hash [sha256.Size]byte) error {
	if sha256.Sum256(body) != hash {
		return toldWrong(p.server(), "another kernel than the one that was announced")
	}
	k, err := DecodeItemKernel(body)
	if err != nil {
		return toldWrong(p.server(), "%w", err)
	}
	if k.Catalogue != len(job.As[*fedcfkKeys](p.Job.Protocol).Items) || !slices.Equal(k.Kept, p.crowd.kept) {
		return toldWrong(p.server(), "a kernel between other items than those of the second sum")
	}
	scores, err := p.crowd.device.Recommend(k.Model(), k.Kept, p.crowd.popularity, p.Job.Learner.Lambda)
	if err != nil {
		return fault.BadInput(err)
	}
	p.crowd.recommended = p.crowd.device.Best(scores, job.As[*fedcfkKeys](p.Job.Protocol).Items)
	return nil
}

// Recommended returns what a finished recommender recommends to this party's
// person, best first; nil of other jobs, and where the party was not told.
func (p *Party) Recommended() []Recommendation {
	if p == nil {
		return nil
	}
	return p.crowd.recommended
}

// subset reports the first of the names that is not among all.
func subset(names, all []string) (missing string, ok bool) {
	known := make(map[string]bool, len(all))
	for _, name := range all {
		known[name] = true
	}
	i := slices.IndexFunc(names, func(name string) bool { return !known[name] })
	if i < 0 {
		return "", true
	}
	return names[i], false
}

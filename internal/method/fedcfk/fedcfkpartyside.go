package fedcfk

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Party holds a party's state of a job: its own list and the received values.
type Party struct {
	Device
	public
	likes       []int64 // the first sum that the coordinator announced
	recommended []method.Recommendation
}

// newParty returns the party of one person, from a table of that person's ratings.
func newParty(c method.Instance, _ string, t method.Table) (*Party, error) {
	if t.Ratings == nil {
		return nil, errors.New("fedcfk: the table must be a list of ratings; give lines of user, item and rating")
	}
	if n := len(t.Ratings.Users); n != 1 {
		return nil, fmt.Errorf("%s has ratings of %d people; a party must bring the ratings of one person", t.Ratings.Name, n)
	}
	devices := devicesOf(c)
	within, err := t.Ratings.Within(devices.Keys().Items)
	if err != nil {
		return nil, err
	}
	train, _, err := Split(c.Job, within)
	if err != nil {
		return nil, err
	}
	rated, err := devices.Rated(within, train)
	if err != nil {
		return nil, err
	}
	p := devices.Party(train[0])
	p.Rated = rated[0]
	return p, nil
}

// Party returns the party of a person who likes the given items, ascending.
func (c Devices) Party(liked []int) *Party { return &Party{Device: Device{Devices: c, Liked: liked}} }

// Split returns each person's liked items for training and for evaluation, as ascending indices
// into the list of items.
func Split(j *job.Job, all *dataset.Ratings) (train, test [][]int, err error) {
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

func (p *Party) values() public { return p.public }

// Public returns the values that the sums so far have made public to the party.
func (p *Party) Public() method.Public { return p.public }

func (p *Party) addLikes(s method.Setup) (*method.Run, error) {
	return sums.Adder(s, p.Likes(), func(of sums.Summation, survivors []string) error {
		p.NoteFirst(of, survivors)
		return nil
	})
}

// NoteFirst records the first sum and the clients whose vectors are in it.
func (p *Party) NoteFirst(s sums.Summation, survivors []string) { p.first = publicSum{s, survivors} }

func (p *Party) addPairs(s method.Setup) (*method.Run, error) {
	list, err := p.Agreed(s.Announced)
	if err != nil {
		return nil, err
	}
	return sums.Adder(s, list, func(of sums.Summation, survivors []string) (err error) {
		p.second = publicSum{of, survivors}
		p.likes, p.kept, err = p.announcedItems(p.public, s.Announced)
		return err
	})
}

// Agreed returns the party's vector of the second sum, derived from the announced result of the
// first sum.
func (p *Party) Agreed(announced []byte) (secagg.Vector, error) {
	_, kept, err := p.announcedItems(p.public, announced)
	return p.Pairs(kept), err
}

func (p *Party) hear(s method.Setup) (*method.Run, error) {
	n, err := p.announcedNotice(p.public, s.Announced)
	if err != nil {
		return nil, err
	}
	return sums.Receiver(s, func(body []byte) error { return p.recommend(body, n.hash) })
}

// recommend checks the kernel and computes the party's own recommendations.
func (p *Party) recommend(body []byte, hash [sha256.Size]byte) error {
	if sha256.Sum256(body) != hash {
		return p.blame("the received kernel differs from the announced kernel")
	}
	k, err := DecodeItemKernel(body)
	if err != nil {
		return p.blame("%w", err)
	}
	if k.Catalogue != p.Items || !slices.Equal(k.Kept, p.kept) {
		return p.blame("the received kernel is between other items than the items of the second sum")
	}
	scores, err := p.Recommend(k.Model(), k.Kept, p.Popularity(p.likes))
	if err != nil {
		return fault.BadInput(err)
	}
	p.recommended = p.Best(scores, p.Keys().Items)
	return nil
}

func (p *Party) recommendation() []method.Recommendation { return p.recommended }

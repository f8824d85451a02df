package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/local"
)

// The demonstration is small: the example has all 943 people.
const (
	demoPeople  = 250
	demoItems   = 140 // generated: little more than a crowd of 250 may learn about
	demoRatings = 30  // generated, of each person
)

// recommender lets a small crowd recommend films to itself.
func (a *app) recommender(ctx context.Context, f demoFlags) (Result, error) {
	if err := folder(f.out); err != nil {
		return nil, err
	}
	j, err := a.exampleJob("fedcfk-ml100k")
	if err != nil {
		return nil, err
	}
	m, played := local.Of(a.local, j).(local.Played)
	if !played {
		return nil, errors.New("this program plays no recommender")
	}
	j.Name = "demo-recommender"
	return a.play(ctx, j, m, a.demoRatings, f.out, f.seed.source())
}

// demoRatings are the first people of MovieLens, or, where that is not at hand,
// made up; the result says which.
func (a *app) demoRatings(source string) (*dataset.Ratings, error) {
	r, err := a.library().Ratings(source)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return generated.Ratings(demoPeople, demoItems, demoRatings, [32]byte{}), nil
	case err != nil:
		return nil, err
	}
	return r.First(demoPeople), nil
}

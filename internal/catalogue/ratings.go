package catalogue

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/dataset"
)

// Ratings reads a source of ratings: the path of a file, or a name in the data
// folder.
func (l Library) Ratings(ref string) (r *dataset.Ratings, err error) {
	path, err := l.Find(ref)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return dataset.ReadRatings(f, dataset.RatingsOptions{Name: filepath.ToSlash(path)})
}

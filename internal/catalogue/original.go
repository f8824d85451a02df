package catalogue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// Original is a data set that can be downloaded from its publisher.
type Original struct {
	Name    string
	Title   string
	Licence string
	Files   []File
}

// File is one file of a data set, as its publisher offers it.
type File struct {
	Name   string
	URL    string
	Bytes  int64
	SHA256 string
}

const (
	libsvmSite = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
	grouplens  = "https://files.grouplens.org/datasets/movielens/ml-100k/"
)

// Originals returns the data sets that can be downloaded. Their addresses and SHA-256 hashes are
// known.
func Originals() []Original {
	return []Original{
		{"a9a", "Adult: income above 50,000 dollars, one-hot", "UCI Adult, CC BY 4.0", []File{
			{"a9a", libsvmSite + "a9a", 2329875, "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"},
			{"a9a.t", libsvmSite + "a9a.t", 1164628, "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"},
		}},
		{"ml-100k", "MovieLens: 100,000 ratings of films", "GroupLens: research use, no redistribution", []File{
			{"u.data", grouplens + "u.data", 1979173, "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"},
			{"u.item", grouplens + "u.item", 236344, "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701"},
		}},
	}
}

// LookupOriginal returns the downloadable data set with the given name.
func LookupOriginal(name string) (Original, error) {
	var known []string
	for _, o := range Originals() {
		if o.Name == name {
			return o, nil
		}
		known = append(known, o.Name)
	}
	problem := "cannot be fetched; choose one of " + strings.Join(known, ", ")
	if near, ok := fuzzymatch.Nearest(name, known...); ok {
		problem += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return Original{}, &Error{name, problem, nil}
}

// Fetch downloads a file into a folder, which it creates if necessary. It does not change an
// existing file. It returns an error if the content of an existing file is not the expected one.
// The fetched file appears complete and checked, or not at all.
func (f File) Fetch(ctx context.Context, client *http.Client, folder string) (path string, fresh bool, err error) {
	path = filepath.Join(folder, f.Name)
	switch have, err := os.ReadFile(path); {
	case err == nil && f.matches(have):
		return path, false, nil
	case err == nil:
		return path, false, &Error{path, "already exists and differs from the file at " + f.URL + "; move it away", nil}
	case !errors.Is(err, fs.ErrNotExist):
		return path, false, unreadable(path, err)
	}
	b, err := f.download(ctx, client)
	if err != nil {
		return path, false, err
	}
	if !f.matches(b) {
		return path, false, &Error{f.URL, "serves a file that differs from the expected one and was discarded; get the data from elsewhere and compare its SHA-256", nil}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return path, false, &Error{folder, "cannot be created: " + reason(err), err}
	}
	return path, true, disk.Replace(path, b)
}

func (f File) matches(b []byte) bool {
	sum := sha256.Sum256(b)
	return int64(len(b)) == f.Bytes && hex.EncodeToString(sum[:]) == f.SHA256
}

// download reads the file; it stops one byte after the expected size, to detect a longer file.
func (f File) download(ctx context.Context, client *http.Client) (b []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("catalogue: the download failed: %w; check the connection, or download the file another way", err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("catalogue: the server at %s answered %s; try again later, or download the file another way", f.URL, answer.Status)
	}
	b, err = io.ReadAll(io.LimitReader(answer.Body, f.Bytes+1))
	if err != nil {
		return nil, fmt.Errorf("catalogue: the download of %s ended early: %w; try again", f.URL, err)
	}
	return b, nil
}

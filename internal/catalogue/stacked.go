package catalogue

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
)

// stacked reads the rows of several files as text, one file after the other. The columns are those of
// the first file; the others have them in any order.
type stacked struct {
	paths  []string // files that are not open yet
	own    prepare.Mapping
	asked  []string
	open   *Rows
	names  []string
	places []int // for each column, its index in the open file
	chosen []int // columns to read; nil for all
	fields []string
}

var _ dataset.ColumnSelector = (*stacked)(nil)

// openStacked opens the first of several files.
func openStacked(paths []string, own prepare.Mapping, asked []string) (*Rows, error) {
	s := &stacked{paths: paths, own: own, asked: asked}
	if err := s.openNext(); err != nil {
		return nil, err
	}
	s.names = slices.Clone(s.open.Columns())
	s.fields = make([]string, len(s.names))
	return &Rows{Name: strings.Join(paths, stackSeparator), Records: s, Closer: s}, s.arrange()
}

// openNext opens the next file.
func (s *stacked) openNext() (err error) {
	s.open, err = openText(s.paths[0], s.own, s.asked)
	s.paths = s.paths[1:]
	return err
}

// arrange finds the columns in the open file.
func (s *stacked) arrange() error {
	own := s.open.Columns()
	s.places = s.places[:0]
	for _, name := range s.names {
		at := slices.Index(own, name)
		if at < 0 || len(own) != len(s.names) {
			return &Error{s.open.Name, "has other columns than the first file; give all files of a table the same columns", nil}
		}
		s.places = append(s.places, at)
	}
	if s.chosen == nil {
		return nil
	}
	var places []int
	for _, k := range s.chosen {
		places = append(places, s.places[k])
	}
	return s.open.Choose(places)
}

// Columns implements [dataset.Records].
func (s *stacked) Columns() []string { return s.names }

// Choose implements [dataset.ColumnSelector].
func (s *stacked) Choose(places []int) error {
	s.chosen = append([]int{}, places...)
	return s.arrange()
}

// Unreadable implements [dataset.ColumnSelector]. It checks only the open file, which is
// the first one until Next reaches its end.
func (s *stacked) Unreadable(place int) error { return s.open.Unreadable(s.places[place]) }

// Next implements [dataset.Records].
func (s *stacked) Next() (dataset.Record, error) {
	for {
		row, err := s.open.Next()
		switch {
		case err == nil:
			for k, at := range s.places {
				s.fields[k] = row.Fields[at]
			}
			return dataset.Record{Line: row.Line, Fields: s.fields, File: s.open.Name}, nil
		case !errors.Is(err, io.EOF) || len(s.paths) == 0:
			return dataset.Record{}, err
		}
		if err := s.open.Close(); err != nil {
			return dataset.Record{}, err
		}
		if err := s.openNext(); err != nil {
			return dataset.Record{}, err
		}
		if err := s.arrange(); err != nil {
			return dataset.Record{}, err
		}
	}
}

// Close closes the open file.
func (s *stacked) Close() error {
	if s.open == nil {
		return nil
	}
	return s.open.Close()
}

package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
)

// Cut removes the lines at the beginning of the record that are older than a time, and returns their number. The last
// line of the record always stays. A line about the removal is added first.
func (l *Log) Cut(before time.Time) (removed int, err error) {
	err = l.alone(func(f *os.File) error {
		if err := l.read(f); err != nil {
			return err
		}
		last, end, err := l.lastBefore(f, before)
		if err != nil || last.Number <= l.state.cut {
			return err
		}
		removed = last.Number - l.state.cut
		if err := l.add(f, Event{Kind: Erased, Outcome: fmt.Sprintf("lines %d to %d of this record, the last with hash %s", l.state.cut+1, last.Number, last.Hash)}); err != nil {
			return err
		}
		return l.replace(f, last, end)
	})
	return removed, err
}

// lastBefore returns the last of the first lines that are all older than a time, and the offset of its end.
func (l *Log) lastBefore(f *os.File, before time.Time) (last Mark, end int64, err error) {
	var s state
	whole := io.NewSectionReader(f, 0, l.state.end)
	err = s.follow(whole, l.path, func(e Event, hash string) error {
		if !e.Time.Before(before) || s.lines == l.state.lines {
			return errEnough
		}
		last, end = Mark{s.lines, hash}, s.end
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return last, end, err
}

// replace writes the record anew without the lines up to a mark, whose end is given.
func (l *Log) replace(f *os.File, last Mark, end int64) error {
	first, err := json.Marshal(Event{Number: last.Number, Time: time.Now().UTC(), Previous: last.Hash, Kind: Cut})
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	first = append(first, '\n')
	err = disk.ReplaceBy(l.path, func(to io.Writer) error {
		if _, err := to.Write(first); err != nil {
			return err
		}
		_, err := io.Copy(to, io.NewSectionReader(f, end, l.state.end-end))
		return err
	})
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	l.state.end += int64(len(first)) - end
	l.state.cut = last.Number
	l.file, err = os.Stat(l.path)
	return err
}

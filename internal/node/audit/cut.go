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
		last, err := l.lastBefore(f, before)
		if err != nil || last.lines <= l.state.cut {
			return err
		}
		removed = last.lines - l.state.cut
		if err := l.add(f, Event{Kind: Erased, Outcome: fmt.Sprintf("lines %d to %d of this record, the last with hash %s", l.state.cut+1, last.lines, last.head)}); err != nil {
			return err
		}
		return l.replace(f, last)
	})
	return removed, err
}

// lastBefore returns the state after the last of those lines at the beginning that are all older than a time.
func (l *Log) lastBefore(f *os.File, before time.Time) (last state, err error) {
	var s state
	whole := io.NewSectionReader(f, 0, l.state.end)
	err = s.follow(whole, l.path, func(e Event, _ string) error {
		if !e.Time.Before(before) || s.lines == l.state.lines {
			return errEnough
		}
		last = s
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return last, err
}

// replace writes the record anew without its lines up to the given end.
func (l *Log) replace(f *os.File, last state) error {
	e := Event{Number: last.lines, Time: time.Now().UTC(), Previous: last.head, Kind: Cut, Steps: last.steps, Origin: last.origin}
	for _, id := range last.noise {
		e.Releases = append(e.Releases, Release{Kind: noise, ID: id})
	}
	first, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if len(first) >= MaxLine {
		return fmt.Errorf(`audit: %d releases of noise do not fit into one line, so no lines can be removed; remove "audit" from "retention"`, len(last.noise))
	}
	first = append(first, '\n')
	err = disk.ReplaceBy(l.path, func(to io.Writer) error {
		if _, err := to.Write(first); err != nil {
			return err
		}
		_, err := io.Copy(to, io.NewSectionReader(f, last.end, l.state.end-last.end))
		return err
	})
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	l.state.end += int64(len(first)) - last.end
	l.state.cut = last.lines
	l.file, err = os.Stat(l.path)
	return err
}

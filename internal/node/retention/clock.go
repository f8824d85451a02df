package retention

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
)

// Days is the path of a file with the first and the last day on which a daemon has run. A clock that has jumped differs
// from the last day by too much. So the jump is found before it makes everything seem old.
type Days string

// seen is the content of the file.
type seen struct {
	First string `json:"first"` // first day, as YYYY-MM-DD in UTC
	Last  string `json:"last"`  // last day, as YYYY-MM-DD in UTC
}

// most is the longest time between two days on which the daemon ran. After a longer time the operator must confirm the
// clock.
const most = 31 * 24 * time.Hour

// JumpError reports that the clock is much later than the day on which the daemon ran last.
type JumpError struct{ Path, Last, Now string }

func (e *JumpError) Error() string {
	return fmt.Sprintf("retention: the clock says %s, and this daemon has last run on %s; nothing is erased by age until the clock is right. If it is right, remove %s", e.Now, e.Last, e.Path)
}

// Trust notes today, and reports whether things may be erased by their age today. On the first day nothing is. It
// returns a *[JumpError] if the clock has jumped, and then notes nothing. A clock that is set back before the first day
// begins anew.
func (d Days) Trust(now time.Time) (bool, error) {
	midnight := now.UTC().Truncate(24 * time.Hour)
	today := midnight.Format(time.DateOnly)
	s, known, err := d.read()
	if err != nil {
		return false, err
	}
	last, _ := time.Parse(time.DateOnly, s.Last)
	switch {
	case known && midnight.Sub(last) > most:
		return false, &JumpError{string(d), s.Last, today}
	case !known, today < s.First:
		s.First = today
	}
	if s.Last != today {
		s.Last = today
		b, err := json.Marshal(s)
		if err == nil {
			err = disk.Replace(string(d), b)
		}
		if err != nil {
			return false, fmt.Errorf("retention: %w", err)
		}
	}
	return s.First < today, nil
}

// read returns the days that the file has. A damaged file counts as missing: then nothing is erased today.
func (d Days) read() (s seen, known bool, err error) {
	b, err := os.ReadFile(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("retention: %w", err)
	}
	if json.Unmarshal(b, &s) != nil || !isDay(s.First) || !isDay(s.Last) {
		s = seen{}
	}
	return s, s != seen{}, nil
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

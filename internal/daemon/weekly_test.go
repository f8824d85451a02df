package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/approved"
)

// A table whose entry says so is frozen when its edition is a week old; one that waits for company
// is tried once a day, and one whose edition was erased waits for its operator.
func TestWeeklyEditions(t *testing.T) {
	h, c, d := frozen(t, "id")
	var log bytes.Buffer
	f := freezer{h, func() *Config { return c }, all.Reader(), slog.New(slog.NewTextHandler(&log, nil)), make(map[approved.Approval]string)}
	day := time.Now().UTC()
	if err := h.Dictionaries().Approve(d, "patients", day); err != nil {
		t.Fatal(err)
	}
	newest := func() int {
		t.Helper()
		e, err := h.Editions().Newest("patients", d.Hash())
		if err != nil {
			t.Fatal(err)
		}
		return e.Number
	}
	on := func(days, want int, says string) {
		t.Helper()
		log.Reset()
		f.freeze(context.Background(), day.AddDate(0, 0, days))
		if got := newest(); got != want || !strings.Contains(log.String(), says) || says == "" && log.Len() > 0 {
			t.Errorf("after %d days edition %d, log %q; want %d, %q", days, got, log.String(), want, says)
		}
	}
	h.put(t, "patients.csv", frozenTable(203))
	on(30, 1, "") // the entry does not say so
	s := c.Data["patients"]
	s.Editions = weekly
	c.Data["patients"] = s
	on(6, 1, "")
	on(7, 1, "a table is not frozen again")
	h.put(t, "patients.csv", frozenTable(300))
	on(7, 1, "") // tried today
	on(8, 2, "froze a table")
	h.put(t, "patients.csv", "id,age\n")
	on(15, 2, "a table could not be frozen")
	for n := 1; n <= 2; n++ {
		if err := h.Editions().Erase("patients", d.Name, n); err != nil {
			t.Fatal(err)
		}
	}
	h.put(t, "patients.csv", frozenTable(400))
	log.Reset()
	f.freeze(context.Background(), day.AddDate(0, 0, 40))
	if list, err := h.Editions().List(); err != nil || len(list) > 0 || log.Len() > 0 {
		t.Errorf("%v, %v, log %q", list, err, log.String())
	}
	if err := (Source{Path: "x.csv", Label: Labels{Columns: []string{"y"}}, Editions: "daily"}).check(job.Names{}); err == nil || !strings.Contains(err.Error(), `the setting "editions" is "daily"; write "weekly"`) {
		t.Error(err)
	}
}

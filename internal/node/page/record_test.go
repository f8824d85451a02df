package page

import (
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// appendTo adds events to a record.
func appendTo(t *testing.T, path string, events ...audit.Event) {
	t.Helper()
	log, err := audit.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

// released is an event that lets data out.
func released(job, table string) audit.Event {
	return audit.Event{Kind: audit.Released, Job: job, Name: "kidney", Table: table, Session: job, Parties: []string{"north"}, Releases: []audit.Release{{Kind: "rows", ID: "1"}}}
}

// Attack: an address whose month and text together read like those of another address, and months that are none.
func TestAttackMonths(t *testing.T) {
	h := partyHome(t)
	appendTo(t, h.record, released("k", "patients east"))
	s := open(t, h, h, visitor(access.Viewer))
	month := time.Now().Format(monthFormat)
	view := func(month, text string) (int, string) {
		return s.get(s.base + "/audit?" + url.Values{"month": {month}, "text": {text}}.Encode())
	}
	for _, wrong := range []string{month + " patients", "2026-13", "2026-00", "2026", "2026-1", "x", "2026-11-01"} {
		if status, body := view(wrong, "east"); status != http.StatusNotFound || !strings.Contains(body, "The address names no month; write one such as month=2026-11.") || strings.Contains(body, "nothing left this home") {
			t.Errorf("month %q: %d %s", wrong, status, body)
		}
	}
	if _, body := view(month, "patients east"); !strings.Contains(body, "1 job let data out") {
		t.Error(body)
	}
}

// A withdrawn release stands among the decisions, with who has withdrawn it and what it was before.
func TestAWithdrawnReleaseIsShown(t *testing.T) {
	h := partyHome(t)
	uid := 1005
	appendTo(t, h.record, audit.Event{Kind: audit.ReleaseWithdrawn, Job: "k", Name: "kidney", Table: "patients", By: &access.Person{Member: "north", UID: &uid}, Outcome: "approved before"})
	s := open(t, h, h, visitor(access.Viewer))
	_, body := s.get(s.base + "/audit")
	row := regexp.MustCompile(`<td data-label="what">release withdrawn</td>.*`).FindString(body)
	for _, text := range []string{"kidney <small>", "user 1005 at north<", ">approved before<"} {
		if !strings.Contains(row, text) {
			t.Errorf("%q is not in %q", text, row)
		}
	}
}

// The record is read from where the last reading ended, and from its beginning when it is another one, or after a while.
func TestTheRecordIsReadOn(t *testing.T) {
	h := partyHome(t)
	var k record
	read := func() reading {
		t.Helper()
		r, err := k.lines(h.record)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r, err := k.lines(h.record + "-none"); err != nil || r.lines != 0 {
		t.Errorf("no record: %+v, %v", r, err)
	}
	before := read()
	checked, last := k.checked, k.last
	appendTo(t, h.record, released("k", "patients"))
	after := read()
	if after.lines != before.lines+1 || len(after.entries) != len(before.entries)+1 || after.head == before.head || after.broken != "" {
		t.Errorf("%+v after %+v", after, before)
	}
	if k.last != last || !k.checked.Equal(checked) {
		t.Error("the whole record was read for one line")
	}
	if again := read(); again.lines != after.lines || len(again.entries) != len(after.entries) {
		t.Errorf("without a change: %+v", again)
	}
	whole, err := audit.Verify(h.record, nil)
	if err != nil || whole.Lines != after.lines || whole.Head != after.head {
		t.Errorf("%+v, %v", whole, err)
	}

	info, err := os.Stat(h.record)
	if err != nil {
		t.Fatal(err)
	}
	breakRecord(t, h.record)
	if err := os.Chtimes(h.record, time.Time{}, info.ModTime()); err != nil { // the change cannot be seen
		t.Fatal(err)
	}
	if r := read(); r.broken != "" {
		t.Error("the test breaks the record visibly")
	}
	k.checked = k.checked.Add(-recordTime - time.Second)
	for began := time.Now(); !strings.HasPrefix(read().broken, "line 3: "); time.Sleep(time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("after a while the chain is not checked: %+v", read())
		}
	}

	if err := os.Remove(h.record); err != nil {
		t.Fatal(err)
	}
	other := partyHome(t)
	appendTo(t, other.record, released("m", "others"), released("m", "others")) // longer, so its length does not tell
	if err := os.Rename(other.record, h.record); err != nil {
		t.Fatal(err)
	}
	if r := read(); r.broken != "" || r.entries[len(r.entries)-1].table != "others" {
		t.Errorf("another file: %+v", r)
	}
}

// Lines about one job share what they are about, and the memory of a record is not that of its text.
func TestLinesShareTheirSubject(t *testing.T) {
	h := partyHome(t)
	var k record
	appendTo(t, h.record, audit.Event{Kind: audit.Accepted, Job: "k"}, released("k", "p"), released("k", "p"), released("k", "q"))
	r, err := k.lines(h.record)
	if err != nil {
		t.Fatal(err)
	}
	last := r.entries[len(r.entries)-3:]
	if last[0].subject != last[1].subject || last[1].subject == last[2].subject {
		t.Error("the subjects are not those of the lines")
	}
	for _, e := range r.entries {
		if e.Previous != "" || e.Event.Job != "" || e.Kind == audit.Accepted || e.Kind == audit.Ended && e.Outcome != "" {
			t.Errorf("%+v is kept", e)
		}
	}
}

// What a view has read stays as it is while others read on.
func TestAReadingStays(t *testing.T) {
	h := partyHome(t)
	var k record
	first, err := k.lines(h.record)
	if err != nil {
		t.Fatal(err)
	}
	n := len(first.entries)
	for range 2 * n {
		appendTo(t, h.record, released("k", "p"))
		if _, err := k.lines(h.record); err != nil {
			t.Fatal(err)
		}
	}
	var v auditView
	v.fill(first.entries, func(time.Time) bool { return true }, overview.Overview{})
	if len(first.entries) != n || len(v.Let) != 1 || v.Refusals != 4 {
		t.Errorf("%d entries, %+v", len(first.entries), v)
	}
}

// While the whole chain is checked, views use what was read before. The check ends with what the file says then.
func TestViewsDoNotWaitForACheck(t *testing.T) {
	h := partyHome(t)
	var k record
	if _, err := k.lines(h.record); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(h.record)
	if err != nil {
		t.Fatal(err)
	}
	k.checked, k.checking = time.Time{}, true // as while a check runs
	appendTo(t, h.record, released("k", "p"))
	r, err := k.lines(h.record)
	if err != nil || r.entries[len(r.entries)-1].job != "k" || !k.checked.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
	appendTo(t, h.record, released("m", "p"))
	k.check(h.record, info)
	if r, err := k.lines(h.record); err != nil || k.checking || r.entries[len(r.entries)-1].job != "m" || r.lines != 9 || time.Since(k.checked) > recordTime {
		t.Errorf("%+v, %v", r, err)
	}
	if k.check(h.record+"-none", info); k.last == nil || k.last.read.lines != 0 {
		t.Errorf("a record that has gone: %+v", k.last)
	}
}

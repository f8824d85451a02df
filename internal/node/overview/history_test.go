package overview

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

// stages returns the stages of events, in order.
func stages(list []Event) (names []string) {
	for _, e := range list {
		names = append(names, e.Stage)
	}
	return names
}

// A history keeps the latest events of each job, and of all jobs together.
func TestHistoryIsBounded(t *testing.T) {
	h := NewHistory()
	h.Add(Event{Kind: Submitted, Job: "quiet", Stage: "first"})
	for i := range 2 * maxOfOne {
		h.Add(Event{Kind: StageBegun, Job: "noisy", Stage: fmt.Sprint(i)})
	}
	if got := h.Of("quiet"); len(got) != 1 || got[0].Stage != "first" {
		t.Errorf("a noisy job has left of a quiet one: %v", got)
	}
	for range 2 * maxOfOne {
		h.Add(Event{Kind: Connected, Member: "east"})
	}
	if n := len(h.Of("")); n != 1+2*maxOfOne {
		t.Errorf("%d events of two jobs and a member", n)
	}
	noisy := stages(h.Of("noisy"))
	if len(noisy) != maxOfOne || noisy[0] != fmt.Sprint(maxOfOne) || noisy[maxOfOne-1] != fmt.Sprint(2*maxOfOne-1) {
		t.Errorf("%d events of a noisy job, from %s to %s", len(noisy), noisy[0], noisy[len(noisy)-1])
	}
	for i := range maxEvents {
		h.Add(Event{Kind: Submitted, Job: fmt.Sprint("job", i)})
	}
	if n := len(h.Of("")); n != maxEvents {
		t.Errorf("%d events in all, want %d", n, maxEvents)
	}
	if len(h.Of("quiet")) > 0 || len(h.Of("noisy")) > 0 || len(h.number) != maxEvents {
		t.Errorf("the oldest events are still here, or %d jobs are counted", len(h.number))
	}
	if n := h.Count(StageBegun); n != 2*maxOfOne {
		t.Errorf("%d stages are counted, want all %d", n, 2*maxOfOne)
	}
}

// A text that another member chooses is bounded.
func TestTextsAreBounded(t *testing.T) {
	h := NewHistory()
	h.Add(Event{Kind: Refused, Job: strings.Repeat("j", 1<<20), Name: strings.Repeat("ä", 1<<20), Blamed: strings.Repeat("b", 1<<20)})
	e := h.Of("")[0]
	if len(e.Job) > 300 || len(e.Name) > 300 || len(e.Blamed) > 300 || strings.ContainsRune(e.Name, '\ufffd') {
		t.Errorf("texts of %d, %d and %d bytes", len(e.Job), len(e.Name), len(e.Blamed))
	}
}

// A follower gets what was kept and then each further event of its job, and nothing of another job.
func TestFollow(t *testing.T) {
	h := NewHistory()
	h.Add(Event{Kind: Submitted, Job: "a", Stage: "1"})
	kept, f, err := h.Follow("a", 1)
	if err != nil || !slices.Equal(stages(kept), []string{"1"}) {
		t.Fatalf("kept %v, %v", kept, err)
	}
	h.Add(Event{Kind: StageBegun, Job: "b", Stage: "2"})
	h.Add(Event{Kind: StageBegun, Job: "a", Stage: "3"})
	if e := <-f.Next(); e.Stage != "3" || time.Since(e.Time) > time.Minute {
		t.Errorf("%+v", e)
	}
	f.Stop()
	f.Stop()
	h.Add(Event{Kind: Closed, Job: "a"})
	select {
	case e, on := <-f.Next():
		t.Errorf("after its end a follower gets %+v, %t", e, on)
	default:
	}
}

// A follower that does not read is dropped, and delays nobody. Others go on.
func TestSlowFollowersAreDropped(t *testing.T) {
	h := NewHistory()
	_, slow, err := h.Follow("", 1)
	if err != nil {
		t.Fatal(err)
	}
	_, quick, err := h.Follow("", 1)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 * maxBehind {
		h.Add(Event{Kind: StageBegun, Job: "a"})
		if _, on := <-quick.Next(); !on {
			t.Fatal("a follower that reads is dropped")
		}
	}
	n := 0
	for range slow.Next() {
		n++
	}
	if n != maxBehind {
		t.Errorf("a slow follower got %d events before it was dropped, want %d", n, maxBehind)
	}
	slow.Stop()
	for i := range maxReaders - 1 { // besides quick
		if _, _, err := h.Follow("", 2+i/maxOfUser); err != nil {
			t.Fatal(err)
		}
		if (i+1)%maxOfUser != 0 {
			continue
		}
		if _, _, err := h.Follow("", 2+i/maxOfUser); !errors.Is(err, errEnough) {
			t.Errorf("a user with more than %d followers: %v", maxOfUser, err)
		}
	}
	if _, _, err := h.Follow("", 1000); !errors.Is(err, errFull) {
		t.Errorf("more than %d followers: %v", maxReaders, err)
	}
}

// An event is one line of the log and one entry of the history. Only the log has further attributes.
func TestRecord(t *testing.T) {
	var log bytes.Buffer
	h := NewHistory()
	h.Record(slog.New(slog.NewTextHandler(&log, nil)), slog.LevelWarn, "a stage waits", Event{Kind: IsWaiting, Job: "j", Name: "n", Stage: "s", Parties: []string{"east"}, Code: 3}, "error", "rows: 7")
	if got := log.String(); !strings.Contains(got, `level=WARN msg="a stage waits" job=j name=n stage=s parties=[east] code=3 error="rows: 7"`) {
		t.Errorf("%q", got)
	}
	if e := h.Of("j"); len(e) != 1 || e[0].Code != 3 {
		t.Errorf("%+v", e)
	}
}

package control

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/protocol"
)

// A silent member is not blamed while another one cannot continue, nor shortly after; every other error
// stays.
func TestStalls(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	silent := protocol.Blame("east", protocol.KindSilent, errors.New("the rows of north did not come"))
	liar := protocol.Blame("east", protocol.KindInconsistent, errors.New("another sum"))
	var s Stalls
	if got := s.Explain(silent, "hub", start, time.Minute); !errors.Is(got, silent) {
		t.Errorf("nobody has stalled, and %v becomes %v", silent, got)
	}
	full := &Stall{Member: "north", Trouble: fault.Disk}
	if !s.Note(full, at(1)) || s.Note(full, at(2)) {
		t.Error("the first word is news, the second is none")
	}
	wantNorth := func(now int) {
		t.Helper()
		got := s.Explain(silent, "hub", at(now), time.Minute)
		var coded *fault.Error
		if !errors.As(got, &coded) || coded.Blamed != "north" || strings.Contains(got.Error(), "east") || !strings.Contains(got.Error(), fault.Disk.Sentence()) {
			t.Errorf("after %d s: %v", now, got)
		}
	}
	wantNorth(1000)
	if got := s.Explain(liar, "hub", at(3), time.Minute); !errors.Is(got, liar) {
		t.Errorf("who lies is not excused: %v", got)
	}
	over := &Stall{Member: "north"}
	if !s.Note(over, at(1000)) || s.Note(over, at(1001)) {
		t.Error("that it goes on is news once")
	}
	wantNorth(1059)
	if got := s.Explain(silent, "hub", at(1060), time.Minute); !errors.Is(got, silent) {
		t.Errorf("a minute later %v becomes %v", silent, got)
	}
	if s.Note(&Stall{Member: "south"}, at(1)) {
		t.Error("who never stalled goes on, which is no news")
	}
}

// A job that ran out of time while an operator thought about it has the exit code of a time limit; one whose
// party has a full disk has failed.
func TestStallsHaveACode(t *testing.T) {
	start := time.Unix(0, 0)
	silent := protocol.Blame("north", protocol.KindSilent, errors.New("did not join"))
	for trouble, want := range map[fault.Trouble]fault.Code{fault.Approval: fault.CodeTimedOut, fault.Disk: fault.CodeFailed} {
		var s Stalls
		s.Note(&Stall{Member: "north", Trouble: trouble}, start)
		if got := s.Explain(silent, "hub", start, time.Minute); fault.CodeOf(got) != want {
			t.Errorf("%v: %v", trouble, fault.CodeOf(got))
		}
	}
}

// A member that stalls and continues by turns has sixteen changes in a session, and then counts as one
// that cannot continue. It represents a party with its own program.
func TestStallsByTurnsAreBounded(t *testing.T) {
	start := time.Unix(0, 0)
	var s Stalls
	news := 0
	for i := range 1000 {
		m := &Stall{Member: "north", Trouble: []fault.Trouble{fault.Disk, fault.NoTrouble}[i%2]}
		if s.Note(m, start) {
			news++
		}
	}
	if news == 0 || news > 16 {
		t.Errorf("%d changes are news, want 1 to 16", news)
	}
	if s.of["north"].over != (time.Time{}) {
		t.Error("a member of which nothing more is heard goes on")
	}
	if !s.Note(&Stall{Member: "south", Trouble: fault.Disk}, start) {
		t.Error("another member's word is no news")
	}
}

// A silent coordinator is not excused by its report of a member's stall. It represents one that lies:
// nothing in a stall shows that the member has sent it.
func TestStallExcusesNoCoordinator(t *testing.T) {
	start := time.Unix(0, 0)
	var s Stalls
	s.Note(&Stall{Member: "north", Trouble: fault.Disk}, start)
	silent := protocol.Blame("hub", protocol.KindSilent, errors.New("the directory did not come in time"))
	got := s.Explain(silent, "hub", start, time.Minute)
	var coded *fault.Error
	if !errors.As(got, &coded) || coded.Code != fault.CodeTimedOut || coded.Blamed != "hub" || !strings.HasPrefix(coded.Public, "hub was silent; it reported: north") {
		t.Errorf("the coordinator was silent, and the error is %v", got)
	}
	if got := s.Explain(silent, "", start, time.Minute); !errors.As(got, &coded) || coded.Blamed != "north" {
		t.Errorf("the coordinator has it at first hand, and the error is %v", got)
	}
}

func FuzzDecodeStall(f *testing.F) {
	f.Add((&Stall{Member: "north", Trouble: fault.Disk}).Encode())
	f.Add((&Stall{}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := DecodeStall(b); err == nil && string(s.Encode()) != string(b) {
			t.Error("a stall is not canonical")
		}
	})
}

package control

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/protocol"
)

// Who was silent is not blamed while another member cannot go on, nor shortly after; every
// other error stays.
func TestStalls(t *testing.T) {
	start := time.Unix(0, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	silent := protocol.Blame("east", protocol.KindSilent, errors.New("the rows of north did not come"))
	liar := protocol.Blame("east", protocol.KindInconsistent, errors.New("another sum"))
	var s Stalls
	if got := s.Explain(silent, start, time.Minute); !errors.Is(got, silent) {
		t.Errorf("nobody has stalled, and %v becomes %v", silent, got)
	}
	full := &Stall{Member: "north", Trouble: fault.Disk}
	if !s.Note(full, at(1)) || s.Note(full, at(2)) {
		t.Error("the first word is news, the second is none")
	}
	wantNorth := func(now int) {
		t.Helper()
		got := s.Explain(silent, at(now), time.Minute)
		var coded *fault.Error
		if !errors.As(got, &coded) || coded.Blamed != "north" || strings.Contains(got.Error(), "east") || !strings.Contains(got.Error(), fault.Disk.Sentence()) {
			t.Errorf("after %d s: %v", now, got)
		}
	}
	wantNorth(1000)
	if got := s.Explain(liar, at(3), time.Minute); !errors.Is(got, liar) {
		t.Errorf("who lies is not excused: %v", got)
	}
	over := &Stall{Member: "north"}
	if !s.Note(over, at(1000)) || s.Note(over, at(1001)) {
		t.Error("that it goes on is news once")
	}
	wantNorth(1059)
	if got := s.Explain(silent, at(1060), time.Minute); !errors.Is(got, silent) {
		t.Errorf("a minute later %v becomes %v", silent, got)
	}
	if s.Note(&Stall{Member: "south"}, at(1)) {
		t.Error("who never stalled goes on, which is no news")
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

package coordinator

import (
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
)

// teller is a party with an audit record, which a coordinator hears of.
type teller struct {
	t    *testing.T
	path string // of the record
	boss *Coordinator
}

func newTeller(t *testing.T) *teller {
	return &teller{t, filepath.Join(t.TempDir(), "audit"), &Coordinator{Config: Config{Heads: filepath.Join(t.TempDir(), "heads")}}}
}

// does adds lines to the record, and returns what the party then tells.
func (p *teller) does(kinds ...audit.Kind) control.Record {
	p.t.Helper()
	log, err := audit.Open(p.path)
	for _, kind := range kinds {
		if err == nil {
			err = log.Append(audit.Event{Kind: kind})
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	tip := log.Tip()
	return control.Record{Head: p.hash(tip.Head), Steps: uint64(tip.Steps), Origin: p.hash(tip.Origin)}
}

func (p *teller) hash(digits string) (hash [32]byte) {
	p.t.Helper()
	if n, err := hex.Decode(hash[:], []byte(digits)); err != nil || n != len(hash) {
		p.t.Fatal(digits, err)
	}
	return hash
}

// tells has the coordinator hear messages, in their order.
func (p *teller) tells(list ...control.Record) {
	p.t.Helper()
	for _, r := range list {
		if err := p.boss.keepHead("north", r); err != nil {
			p.t.Fatal(err)
		}
	}
}

// keeps checks that the coordinator answers with the head of a message, also after a restart.
func (p *teller) keeps(r control.Record) {
	p.t.Helper()
	again := &Coordinator{Config: Config{Heads: p.boss.Heads}}
	if kept, err := again.headOf("north"); err != nil || kept.head != r.Head {
		p.t.Errorf("%x is kept, want %x; %v", kept.head, r.Head, err)
	}
}

// isOld reports whether the record lacks the line that the coordinator knows, as that of an old backup does.
func (p *teller) isOld() bool {
	p.t.Helper()
	kept, err := p.boss.headOf("north")
	if err != nil {
		p.t.Fatal(err)
	}
	found, err := audit.Look(p.path, hex.EncodeToString(kept.head[:]))
	if err != nil {
		p.t.Fatal(err)
	}
	return !found.Has
}

// A later head replaces an earlier one. A message that comes again, and late, replaces nothing.
func TestHeadsComeLate(t *testing.T) {
	p := newTeller(t)
	p.keeps(control.Record{})
	first := p.does(audit.Started, audit.Accepted)
	p.tells(first)
	p.keeps(first)
	second := p.does(audit.Ended, audit.Accepted)
	p.tells(second, first)
	p.keeps(second)
	third := p.does(audit.Ended, audit.Withdrawn, audit.Closed)
	p.tells(third, second, first, third)
	p.keeps(third)
	p.tells(p.does(audit.Withdrawn)) // without a further step: of two such messages, either could come late
	p.keeps(third)
	if kept, err := p.boss.headOf("south"); err != nil || kept.head != [32]byte{} {
		t.Errorf("another party: %+v, %v", kept, err)
	}
}

// A home from before a consent is found out, whatever messages come again. The one from after it is not.
func TestARestoredHomeIsFoundOut(t *testing.T) {
	p := newTeller(t)
	first := p.does(audit.Started, audit.Accepted, audit.Ended, audit.Closed)
	p.tells(first)
	backup := disktest.Read(t, p.path)
	second := p.does(audit.Accepted)
	p.tells(second, first)
	p.does(audit.Ended)
	if p.isOld() {
		t.Error("the home itself counts as old")
	}
	disktest.Write(t, p.path, backup)
	if !p.isOld() {
		t.Error("an old backup is not found out")
	}
}

// After the operator of an old backup has accepted the loss, the coordinator keeps the heads of the new history, although
// it is the shorter one. Messages of a lost history, which come late, change nothing. Neither does a second loss.
func TestAnAcceptedLossBeginsAnew(t *testing.T) {
	p := newTeller(t)
	p.tells(p.does(audit.Started, audit.Accepted, audit.Closed))
	backup := disktest.Read(t, p.path)
	lost := []control.Record{p.does(audit.Accepted), p.does(audit.Accepted), p.does(audit.Closed)}
	p.tells(lost...)
	for round := range 2 {
		disktest.Write(t, p.path, backup)
		if !p.isOld() {
			t.Fatalf("round %d: the backup is not found out", round)
		}
		p.does(audit.LossAccepted, audit.Started)
		now := p.does(audit.Accepted)
		if now.Steps >= lost[2].Steps {
			t.Fatalf("the new history is not the shorter one: %d steps", now.Steps)
		}
		p.tells(now)
		p.keeps(now)
		p.tells(lost...)
		p.keeps(now)
		after := p.does(audit.Closed)
		p.tells(after, now)
		p.keeps(after)
		if p.isOld() {
			t.Errorf("round %d: after the loss was accepted, the home counts as old", round)
		}
		lost = append(lost, now, after)
	}
}

// An operator may move a record away. The next one begins anew.
func TestANewRecordBeginsAnew(t *testing.T) {
	p := newTeller(t)
	before := p.does(audit.Started, audit.Accepted, audit.Closed)
	p.tells(before)
	p.path += "-new"
	now := p.does(audit.Started, audit.Accepted)
	p.tells(now, before)
	p.keeps(now)
}

// Earlier builds keep the hash alone, and tell it alone. What they have told comes before what this build tells.
func TestHeadsOfEarlierBuilds(t *testing.T) {
	p := newTeller(t)
	old, older := control.Record{Head: [32]byte{1}}, control.Record{Head: [32]byte{2}}
	p.tells(older, old)
	p.keeps(old)
	disktest.Write(t, filepath.Join(p.boss.Heads, "north"), old.Head[:])
	p.keeps(old)
	p.tells(older)
	p.keeps(older)
	now := p.does(audit.Started, audit.Accepted)
	p.tells(now, old)
	p.keeps(now)
}

// What is kept of a party has a bound. A file that is damaged is no head, and is not written anew.
func TestKeptHeads(t *testing.T) {
	p := newTeller(t)
	for i := range maxEarlier + 3 {
		p.tells(control.Record{Head: [32]byte{byte(i), 1}, Steps: 1, Origin: [32]byte{byte(i), 2}})
	}
	kept, err := p.boss.headOf("north")
	if err != nil || len(kept.earlier) != maxEarlier || kept.earlier[maxEarlier-1] != [32]byte{maxEarlier + 1, 2} || kept.head != [32]byte{maxEarlier + 2, 1} {
		t.Errorf("%+v, %v", kept, err)
	}
	path := filepath.Join(p.boss.Heads, "north")
	whole := disktest.Read(t, path)
	for _, damaged := range [][]byte{nil, whole[:31], whole[:len(whole)-1], append(whole[:len(whole):len(whole)], 0), []byte(strings.Replace(string(whole), "v1", "v9", 1))} {
		disktest.Write(t, path, damaged)
		for what, err := range map[string]error{"keep": p.boss.keepHead("north", control.Record{Head: [32]byte{9}, Steps: 9, Origin: [32]byte{9}}), "read": second(p.boss.headOf("north"))} {
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("%s, of %d bytes: %v", what, len(damaged), err)
			}
		}
		if now := disktest.Read(t, path); string(now) != string(damaged) {
			t.Errorf("a damaged file was written anew: %x", now)
		}
	}
}

func second(_ keptHead, err error) error { return err }

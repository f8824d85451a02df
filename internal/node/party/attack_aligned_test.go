package party

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// The coordinator with one party, south. aligned: true has the first session compare the digests of both
// tables' ids: south, which knows all of north's people but whether person-19 is one, guesses. Any number
// of jobs, each broken off: no entry, no charge, no refusal that counts. The attack succeeds: docs/ledger.md
// says so ("What gets past it").
func TestAttackAlignedGuesses(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := newFixture(t, usual())
	ids := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("person-", i))
		}
		return list
	}
	own := wdbc()
	own.IDs = ids(20)
	s.party.Load = func(job.ID, job.Data) (method.Table, error) {
		return method.Table{Set: own, Key: dataset.SplitKey{1}}, nil
	}
	j := parse(t, "none", "{name: okra}", "closed")
	j.Data.Partition.By, j.Data.Partition.Aligned, j.Protocol = job.Columns, true, jobtest.Protocol(t, "gram")
	j.Data.Partition.Parties = []string{"south", "north"}
	j.Data.ID = "id"
	if err := all.Reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	m, err := method.Of(j)
	if err != nil {
		t.Fatal(err)
	}
	guess := func(id job.ID, n int) bool {
		set := *wdbc().Subset(linalg.Range(0, n))
		set.IDs = ids(20)[:n]
		south, err := m.Party(method.Instance{Job: j, ID: id, Coordinator: "hub", Parties: j.Parties()}, "south", method.Table{Set: &set, Key: dataset.SplitKey{2}})
		if err != nil {
			t.Fatal(err)
		}
		ps := s.propose(s.proposal(j, id, 0))
		d := s.joined(ps)
		run, err := south.Build(0, method.Setup{Setup: protocol.Setup{Session: ps, Self: "south", Seed: [32]byte{7}}, Sign: s.signs("south"), Key: s.party.signer})
		if err != nil {
			t.Fatal(err)
		}
		heard := make(chan protocol.Message, 64)
		s.play("south", ps, d, run, heard)
		s.tell("hub", ps.ID(), control.KindDirectory, d.Encode())
		r := s.report()
		s.closes(id)
		return r.Code == 0
	}
	for k := range maxRefused + 2 {
		n := 19 + k%2
		if is := guess(job.ID{9, byte(k)}, n); is != (n == 20) {
			t.Errorf("guess of %d ids: %v", n, is)
		}
	}
	list, err := s.party.Releases.List()
	peers, err2 := s.party.Releases.Peers()
	if err != nil || err2 != nil || len(list) > 0 || len(peers) > 0 || len(s.party.refusals) > 0 {
		t.Errorf("the ledger knows: %+v %+v %v %v, refusals %d", list, peers, err, err2, len(s.party.refusals))
	}
}

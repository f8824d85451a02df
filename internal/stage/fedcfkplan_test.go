package stage

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

const filmsFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data: {source: liked, partition: {by: devices, parties: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r]}, test: {every: 9}}
  protocol: {name: fedcfk, threshold: 3, items: [tea, milk, rum, ale, gin, rye, cider, mead, port, wine, sake, stout]}
  kernel: {name: linear}
  learner: {name: cf-komd}
`

func filmsJob(t testing.TB) *job.Job {
	t.Helper()
	return read(t, filmsFile)
}

// afterFirst is a party that has been through the first sum, with all parties in it.
func afterFirst(t *testing.T) (*Party, []Stage) {
	t.Helper()
	j := filmsJob(t)
	own := &dataset.Ratings{Name: "a.csv", Users: []string{"1"}, Items: []string{"milk", "tea"}, List: []dataset.Rating{{Item: 0, Value: 5}, {Item: 1, Value: 4}}}
	p, err := NewParty(j, "a", Table{Ratings: own})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Plan(j, Cast{job.ID{1}, "hub", j.Parties()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.NewSession(plan[0].Session.Descriptor([16]byte{1}, 0, [32]byte{}, 0))
	if err != nil {
		t.Fatal(err)
	}
	params, err := secagg.DecodeParams(s.Params)
	if err != nil {
		t.Fatal(err)
	}
	p.crowd.first = heard{Summation{s, params}, j.Parties()[:17]}
	return p, plan
}

// A party finds the second session by itself, and takes what cannot follow from the
// first as the coordinator's fault.
func TestSecondSumThatDoesNotFollow(t *testing.T) {
	p, plan := afterFirst(t)
	good := Proposal{Sums: []int64{12, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17}} // of 17; ten items for 16 at least
	next, err := plan[1].Session.After(p.Known(), good.encode())
	if err != nil {
		t.Fatal(err)
	}
	if next.Purpose != PurposeTriangle || next.Parent != p.crowd.first.Session.ID() || len(next.Members) != 18 || next.Absent != 1 ||
		!slices.Equal(next.Claims, []string{`secagg/masked-input/"once"/"fedcfk/triangle"`}) || p.crowd.kept != nil {
		t.Errorf("%+v, of %+v", next, p.crowd)
	}
	for name, tt := range map[string]struct {
		change func(*Proposal)
		want   string
	}{
		"items":  {func(q *Proposal) { q.Sums = q.Sums[1:] }, "counts of 11 items, the catalogue has 12"},
		"counts": {func(q *Proposal) { q.Sums[1] = 18 }, "item 1 is liked by 18 of 17 people"},
	} {
		q := Proposal{Sums: slices.Clone(good.Sums)}
		tt.change(&q)
		_, err := plan[1].Session.After(p.Known(), q.encode())
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "hub" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	for name, announced := range map[string][]byte{"nothing": nil, "a part": good.encode()[:9], "more": append(good.encode(), 0)} {
		if _, err := plan[1].Session.After(p.Known(), announced); err == nil {
			t.Errorf("%s is announced", name)
		}
	}
	if _, err := plan[1].Session.After(Known{}, good.encode()); err == nil {
		t.Error("without the first sum")
	}
	if _, err := plan[0].Session.After(p.Known(), good.encode()); err == nil {
		t.Error("something is announced of the first sum")
	}
}

// A kernel is told as it was announced, between items of the second sum, to those
// who were in it.
func TestKernelThatDoesNotFollow(t *testing.T) {
	p, plan := afterFirst(t)
	p.crowd.second, p.crowd.kept, p.crowd.popularity = p.crowd.first, []int{0, 1}, []int64{12, 7, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	k := &ItemKernel{Catalogue: 12, Kept: []int{0, 1}, Values: []uint16{one, 9, one}}
	n := notice{clients: []string{"a", "b"}, bytes: len(k.Encode()), hash: [32]byte{1}}
	told, err := plan[3].Session.After(p.Known(), n.encode())
	if err != nil {
		t.Fatal(err)
	}
	if told.Absent != 2 || len(told.Members) != 3 || !bytes.Equal(told.Salt, n.hash[:]) {
		t.Errorf("%+v", told)
	}
	for name, bad := range map[string]notice{
		"strangers": {[]string{"a", "r"}, n.bytes, n.hash}, "too long": {n.clients, kernelBytes(2) + 1, n.hash}, "empty": {n.clients, 0, n.hash},
	} {
		if _, err := plan[3].Session.After(p.Known(), bad.encode()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	hashed := func(k *ItemKernel) ([]byte, [32]byte) { return k.Encode(), sha256.Sum256(k.Encode()) }
	if err := p.recommend(hashed(k)); err != nil || len(p.Recommended()) != 10 || p.Recommended()[0].Item != "rum" {
		t.Errorf("%v, %v", err, p.Recommended())
	}
	for name, bad := range map[string]*ItemKernel{
		"another item":      {Catalogue: 12, Kept: []int{0, 2}, Values: []uint16{one, 9, one}},
		"another catalogue": {Catalogue: 2, Kept: []int{0, 1}, Values: []uint16{one, 9, one}},
	} {
		var blame *protocol.BlameError
		if err := p.recommend(hashed(bad)); !errors.As(err, &blame) || blame.Party != "hub" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.recommend(k.Encode(), [32]byte{1}); err == nil {
		t.Error("another kernel than announced")
	}
}

// With too few left after the first sum the coordinator says who is missing.
func TestTooFewAfterTheFirstSum(t *testing.T) {
	p, plan := afterFirst(t)
	srv := NewServer(filmsJob(t), Cast{job.ID{1}, "hub", filmsJob(t).Parties()})
	srv.crowd.first = counted{heard: p.crowd.first, sums: make([]int64, 12)}
	srv.Ended(plan[0].Name, Ended{Stayed: filmsJob(t).Parties()[3:]})
	_, err := plan[1].Session.Announce(srv)
	if want := "15 of 18 parties are left after the first sum, and 16 are needed; missing: a, b, c"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Coordinator and party come to one second session by the same function, from the
// same words, after the first. It announces no counts that a party would not believe.
func TestSecondSumThatTheCoordinatorAnnounces(t *testing.T) {
	p, plan := afterFirst(t)
	srv := NewServer(filmsJob(t), Cast{job.ID{1}, "hub", filmsJob(t).Parties()})
	srv.crowd.first = counted{heard: p.crowd.first, sums: []int64{12, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17}}
	srv.Ended(plan[0].Name, Ended{Session: p.crowd.first.Session.ID(), Stayed: filmsJob(t).Parties()[1:]})
	announced, err := plan[1].Session.Announce(srv)
	if err != nil {
		t.Fatal(err)
	}
	var ids []protocol.SessionID
	for _, k := range []Known{srv.Known(), p.Known(), p.Known()} {
		next, err := plan[1].Session.After(k, announced)
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.NewSession(next.Descriptor([16]byte{1}, 1, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, s.ID()); s.ID() != ids[0] || next.Parent != p.crowd.first.Session.ID() {
			t.Errorf("%v, after %v", ids, next.Parent)
		}
	}
	srv.crowd.first.sums[1] = 18
	if _, err := plan[1].Session.Announce(srv); err == nil || !strings.Contains(err.Error(), "item 1 is liked by 18 of 17 people") {
		t.Errorf("%v", err)
	}
}

func FuzzAnnounced(f *testing.F) {
	f.Add(Proposal{Sums: []int64{1, 2}}.encode())
	f.Add(notice{clients: []string{"a"}, bytes: 7}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := decodeProposal(b); err == nil && !bytes.Equal(p.encode(), b) {
			t.Error("a proposal is not canonical")
		}
		if n, err := decodeNotice(b); err == nil && !bytes.Equal(n.encode(), b) {
			t.Error("a notice is not canonical")
		}
	})
}

// What a party's table must be.
func TestListsOfParties(t *testing.T) {
	j := filmsJob(t)
	two := &dataset.Ratings{Name: "r.csv", Users: []string{"1", "2"}, Items: []string{"tea"}, List: []dataset.Rating{{Value: 1}}}
	other := &dataset.Ratings{Name: "r.csv", Users: []string{"1"}, Items: []string{"grog"}, List: []dataset.Rating{{Value: 1}}}
	for want, table := range map[string]Table{
		"stage: a recommender needs ratings, and this is a table of rows; give lines of user, item and rating":            {},
		"r.csv has ratings of 2 people; a party brings those of one":                                                      {Ratings: two},
		fmt.Sprintf("dataset: r.csv: user %q rates item %q, which is not among the 12 that there are to be", "1", "grog"): {Ratings: other},
	} {
		if _, err := NewParty(j, "a", table); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	p, err := NewParty(j, "a", Table{Ratings: &dataset.Ratings{Users: []string{"1"}, Items: []string{"rum", "tea"}, List: []dataset.Rating{{Item: 0}, {Item: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 2}, p.crowd.device.liked); d != "" {
		t.Error(d)
	}
}

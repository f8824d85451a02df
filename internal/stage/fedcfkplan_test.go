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
  data: {source: liked, partition: {by: devices, parties: [a, b, c, d, e, f, g, h]}, test: {every: 9}}
  protocol: {name: fedcfk, threshold: 2, margin: none, dropped: 0.25, items: [tea, milk, rum]}
  kernel: {name: linear}
  learner: {name: cf-komd}
`

func filmsJob(t testing.TB) *job.Job {
	t.Helper()
	j, err := job.Parse("job.yaml", []byte(filmsFile))
	if err != nil {
		t.Fatal(err)
	}
	return j
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
	plan, err := Plan(j, Cast{"hub", j.Parties()})
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
	p.crowd.first = heard{Summation{s, params}, j.Parties()[:7]}
	return p, plan
}

// A party finds the second session by itself, and takes what cannot follow from the
// first as the coordinator's fault.
func TestSecondSumThatDoesNotFollow(t *testing.T) {
	p, plan := afterFirst(t)
	good := Proposal{Sums: []int64{2, 7, 0}, Clients: []string{"a", "b", "c", "d", "e", "f"}}
	next, err := plan[1].Session.Follow(p, good.encode())
	if err != nil {
		t.Fatal(err)
	}
	if next.Purpose != PurposeTriangle || next.Parent != p.crowd.first.Session.ID() || len(next.Members) != 7 || next.Absent != 1 ||
		!slices.Equal(next.Claims, []string{`secagg/masked-input/"once"/"fedcfk/triangle"`}) || p.crowd.kept != nil {
		t.Errorf("%+v, of %+v", next, p.crowd)
	}
	for name, tt := range map[string]struct {
		change func(*Proposal)
		want   string
	}{
		"items":   {func(q *Proposal) { q.Sums = q.Sums[1:] }, "counts of 2 items, the catalogue has 3"},
		"counts":  {func(q *Proposal) { q.Sums[1] = 8 }, "item 1 is liked by 8 of 7 people"},
		"people":  {func(q *Proposal) { q.Clients[0] = "h" }, "h is to be in the second sum, and is not in the first"},
		"too few": {func(q *Proposal) { q.Clients = q.Clients[1:] }, "a second sum over 5 clients, fewer than the agreed minimum of 6"},
	} {
		q := Proposal{slices.Clone(good.Sums), slices.Clone(good.Clients), protocol.SessionID{}}
		tt.change(&q)
		_, err := plan[1].Session.Follow(p, q.encode())
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "hub" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	for name, announced := range map[string][]byte{"nothing": nil, "a part": good.encode()[:9], "twice": Proposal{Sums: good.Sums, Clients: []string{"a", "a"}}.encode()} {
		if _, err := plan[1].Session.Follow(p, announced); err == nil {
			t.Errorf("%s is announced", name)
		}
	}
	if _, err := plan[1].Session.Follow(nil, good.encode()); err == nil {
		t.Error("without the first sum")
	}
	if _, err := plan[0].Session.Follow(p, good.encode()); err == nil {
		t.Error("something is announced of the first sum")
	}
}

// A kernel is told as it was announced, between items of the second sum, to those
// who were in it.
func TestKernelThatDoesNotFollow(t *testing.T) {
	p, plan := afterFirst(t)
	p.crowd.second, p.crowd.kept, p.crowd.popularity = p.crowd.first, []int{0, 1}, []int64{2, 7, 0}
	k := &ItemKernel{Catalogue: 3, Kept: []int{0, 1}, Values: []uint16{one, 9, one}}
	n := notice{clients: []string{"a", "b"}, bytes: len(k.Encode()), hash: [32]byte{1}}
	told, err := plan[3].Session.Follow(p, n.encode())
	if err != nil {
		t.Fatal(err)
	}
	if told.Absent != 2 || len(told.Members) != 3 || !bytes.Equal(told.Salt, n.hash[:]) {
		t.Errorf("%+v", told)
	}
	for name, bad := range map[string]notice{
		"strangers": {[]string{"a", "h"}, n.bytes, n.hash}, "too long": {n.clients, kernelBytes(2) + 1, n.hash}, "empty": {n.clients, 0, n.hash},
	} {
		if _, err := plan[3].Session.Follow(p, bad.encode()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	hashed := func(k *ItemKernel) ([]byte, [32]byte) { return k.Encode(), sha256.Sum256(k.Encode()) }
	if err := p.recommend(hashed(k)); err != nil || len(p.Recommended()) != 1 || p.Recommended()[0].Item != "rum" {
		t.Errorf("%v, %v", err, p.Recommended())
	}
	for name, bad := range map[string]*ItemKernel{
		"another item":      {Catalogue: 3, Kept: []int{0, 2}, Values: []uint16{one, 9, one}},
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
	srv := NewServer(filmsJob(t), Cast{"hub", filmsJob(t).Parties()})
	srv.crowd.first = counted{Summation: p.crowd.first.Summation, sums: []int64{2, 7, 0}}
	plan[0].Session.Ended(srv, Ended{Stayed: []string{"a", "b", "d", "e", "g"}})
	_, _, err := plan[1].Session.Conduct(srv)
	if want := "5 of 8 parties are left after the first sum, and 6 are needed; missing: c, f, h"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzAnnounced(f *testing.F) {
	f.Add(Proposal{Sums: []int64{1, 2}, Clients: []string{"a", "b"}}.encode())
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
	other := &dataset.Ratings{Name: "r.csv", Users: []string{"1"}, Items: []string{"gin"}, List: []dataset.Rating{{Value: 1}}}
	for want, table := range map[string]Table{
		"stage: a recommender needs ratings, and this is a table of rows; give lines of user, item and rating":          {},
		"r.csv has ratings of 2 people; a party brings those of one":                                                    {Ratings: two},
		fmt.Sprintf("dataset: r.csv: user %q rates item %q, which is not among the 3 that there are to be", "1", "gin"): {Ratings: other},
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

package fedcfk

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/collective"
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
	j, err := (&job.Reader{Protocols: []job.Protocol{Protocol()}, Learners: learner.Table()}).Parse("films.yaml", []byte(filmsFile))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// afterFirst is a party that has been through the first sum, with all parties in it.
func afterFirst(t *testing.T) (*Party, []method.Step) {
	t.Helper()
	j := filmsJob(t)
	own := &dataset.Ratings{Name: "a.csv", Users: []string{"1"}, Items: []string{"milk", "tea"}, List: []dataset.Rating{{Item: 0, Value: 5}, {Item: 1, Value: 4}}}
	c := methodtest.Instance(j)
	party, err := newParty(c, "a", method.Table{Ratings: own})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Protocol().Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	k := first(t, devicesOf(c), c.Parties, c.Parties[:17])
	party.NoteFirst(k.first.Summation, k.first.survivors)
	return party, plan
}

// A party derives the second session by itself, and blames the coordinator for announcements that
// cannot follow from the first sum.
func TestSecondSumThatDoesNotFollow(t *testing.T) {
	p, plan := afterFirst(t)
	good := []int64{12, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17} // of 17; ten items for 16 at least
	next, err := plan[1].Session.After(p.Public(), encodeCounts(good))
	if err != nil {
		t.Fatal(err)
	}
	if next.Purpose != PurposeTriangle || next.Parent != p.first.Session.ID() || len(next.Members) != 18 || next.Absent != 1 ||
		!slices.Equal(next.Claims, []string{`secagg/masked-input/"once"/"fedcfk/triangle"`}) || p.kept != nil {
		t.Errorf("%+v, of %+v", next, p.public)
	}
	for name, tt := range map[string]struct {
		counts []int64
		want   string
	}{
		"items":  {good[1:], "the first sum counts 11 items, but the catalogue has 12"},
		"counts": {[]int64{12, 18, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17}, "item 1 has 18 likes from 17 people, which is impossible"},
	} {
		_, err := plan[1].Session.After(p.Public(), encodeCounts(tt.counts))
		var blame *protocol.BlameError
		if !errors.As(err, &blame) || blame.Party != "hub" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	for name, announced := range map[string][]byte{"nothing": nil, "a part": encodeCounts(good)[:9], "more": append(encodeCounts(good), 0)} {
		if _, err := plan[1].Session.After(p.Public(), announced); err == nil {
			t.Errorf("%s is announced", name)
		}
	}
	if _, err := plan[1].Session.After(nil, encodeCounts(good)); err == nil {
		t.Error("without the first sum")
	}
	if _, err := plan[0].Session.After(p.Public(), encodeCounts(good)); err == nil {
		t.Error("something is announced of the first sum")
	}
}

// The server of a sum waits for each client that vanishes; all other timers last one
// round.
func TestPatientTimers(t *testing.T) {
	p, plan := afterFirst(t)
	pairs, err := plan[1].Session.After(p.Public(), encodeCounts([]int64{12, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17}))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*method.Session{"popularity": plan[0].Session, "pairs": pairs, "broadcast": plan[3].Session} {
		for _, timer := range []protocol.Timer{secagg.TimerServer, secagg.TimerMasked, collective.TimerBroadcast} {
			want := time.Minute
			if name != "broadcast" && timer == secagg.TimerServer {
				want = 24 * time.Minute
			}
			if got := s.Timeout(timer, time.Minute); got != want {
				t.Errorf("%s: %s lasts %s, want %s", name, timer, got, want)
			}
		}
	}
}

// A kernel is sent as it was announced, between items of the second sum, to the members of that
// sum.
func TestKernelThatDoesNotFollow(t *testing.T) {
	p, plan := afterFirst(t)
	p.second, p.kept, p.likes = p.first, []int{0, 1}, []int64{12, 7, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	k := &ItemKernel{Catalogue: 12, Kept: []int{0, 1}, Values: []uint16{One, 9, One}}
	n := notice{clients: []string{"a", "b"}, bytes: len(k.Encode()), hash: [32]byte{1}}
	told, err := plan[3].Session.After(p.Public(), n.encode())
	if err != nil {
		t.Fatal(err)
	}
	if told.Absent != 2 || len(told.Members) != 3 || !bytes.Equal(told.Salt, n.hash[:]) {
		t.Errorf("%+v", told)
	}
	for name, bad := range map[string]notice{
		"strangers": {[]string{"a", "r"}, n.bytes, n.hash}, "too long": {n.clients, kernelBytes(2) + 1, n.hash}, "empty": {n.clients, 0, n.hash},
	} {
		if _, err := plan[3].Session.After(p.Public(), bad.encode()); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	hashed := func(k *ItemKernel) ([]byte, [32]byte) { return k.Encode(), sha256.Sum256(k.Encode()) }
	if err := p.recommend(hashed(k)); err != nil || len(p.recommended) != 10 || p.recommended[0].Item != "rum" {
		t.Errorf("%v, %v", err, p.recommended)
	}
	for name, bad := range map[string]*ItemKernel{
		"another item":      {Catalogue: 12, Kept: []int{0, 2}, Values: []uint16{One, 9, One}},
		"another catalogue": {Catalogue: 2, Kept: []int{0, 1}, Values: []uint16{One, 9, One}},
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

// If too few parties remain after the first sum, the coordinator names the missing ones.
func TestTooFewAfterTheFirstSum(t *testing.T) {
	p, _ := afterFirst(t)
	srv := devicesOf(methodtest.Instance(filmsJob(t))).Server()
	srv.first = serverSum{publicSum: p.first, likes: make([]int64, 12)}
	srv.EndedFirst(method.End{Stayed: filmsJob(t).Parties()[3:]})
	_, err := srv.AnnouncePairs()
	if want := "only 15 of 18 parties are left after the first sum; at least 16 are required; missing: a, b, c"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// Coordinator and party derive one second session with the same function from the same announcement
// after the first. The coordinator announces no counts that a party would refuse.
func TestSecondSumThatTheCoordinatorAnnounces(t *testing.T) {
	p, plan := afterFirst(t)
	srv := devicesOf(methodtest.Instance(filmsJob(t))).Server()
	srv.first = serverSum{publicSum: p.first, likes: []int64{12, 7, 0, 9, 10, 11, 12, 13, 14, 15, 16, 17}}
	srv.EndedFirst(method.End{Session: p.first.Session.ID(), Stayed: filmsJob(t).Parties()[1:]})
	announced, err := srv.AnnouncePairs()
	if err != nil {
		t.Fatal(err)
	}
	var ids []protocol.SessionID
	for _, k := range []method.Public{srv.Public(), p.Public(), p.Public()} {
		next, err := plan[1].Session.After(k, announced)
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.NewSession(next.Descriptor([16]byte{1}, 1, [32]byte{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		if ids = append(ids, s.ID()); s.ID() != ids[0] || next.Parent != p.first.Session.ID() {
			t.Errorf("%v, after %v", ids, next.Parent)
		}
	}
	srv.first.likes[1] = 18
	if _, err := srv.AnnouncePairs(); err == nil || !strings.Contains(err.Error(), "item 1 has 18 likes from 17 people, which is impossible") {
		t.Errorf("%v", err)
	}
}

func FuzzAnnounced(f *testing.F) {
	f.Add(encodeCounts([]int64{1, 2}))
	f.Add(notice{clients: []string{"a"}, bytes: 7}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if likes, err := decodeCounts(b); err == nil && !bytes.Equal(encodeCounts(likes), b) {
			t.Error("a proposal is not canonical")
		}
		if n, err := decodeNotice(b); err == nil && !bytes.Equal(n.encode(), b) {
			t.Error("a notice is not canonical")
		}
	})
}

// A party refuses tables that are not one person's ratings.
func TestListsOfParties(t *testing.T) {
	j := filmsJob(t)
	two := &dataset.Ratings{Name: "r.csv", Users: []string{"1", "2"}, Items: []string{"tea"}, List: []dataset.Rating{{Value: 1}}}
	other := &dataset.Ratings{Name: "r.csv", Users: []string{"1"}, Items: []string{"grog"}, List: []dataset.Rating{{Value: 1}}}
	for want, table := range map[string]method.Table{
		"fedcfk: the table must be a list of ratings; give lines of user, item and rating":                       {},
		"r.csv has ratings of 2 people; a party must bring the ratings of one person":                            {Ratings: two},
		fmt.Sprintf("dataset: r.csv: user %q rates item %q, which is not among the 12 given items", "1", "grog"): {Ratings: other},
	} {
		if _, err := newParty(methodtest.Instance(j), "a", table); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	p, err := newParty(methodtest.Instance(j), "a", method.Table{Ratings: &dataset.Ratings{Users: []string{"1"}, Items: []string{"rum", "tea"}, List: []dataset.Rating{{Item: 0}, {Item: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{0, 2}, p.Liked); d != "" {
		t.Error(d)
	}
}

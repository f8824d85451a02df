package psi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func checkAligned(t interface {
	Helper()
	Fatal(...any)
}, r *sim.Result, sets [][][]byte) {
	t.Helper()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	var orders [][]int
	for i := range sets {
		orders = append(orders, party(r, i).Order())
		if party(r, i).Alignment() != party(r, 0).Alignment() || party(r, i).Key() != party(r, 0).Key() {
			t.Fatal(names[i], "has another alignment or key than", names[0])
		}
	}
	if err := aligned(sets, orders); err != nil {
		t.Fatal(err)
	}
}

// Any sets end in the plain intersection, or in the error that says that it is
// empty.
func TestIntersection(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rapid.Check(t, func(rt *rapid.T) {
		sets := make([][][]byte, rapid.IntRange(2, 5).Draw(rt, "parties"))
		for i := range sets {
			words := rapid.SliceOfNDistinct(rapid.StringMatching("[a-f][0-2]?"), 1, 14, rapid.ID).Draw(rt, "ids")
			sets[i] = ids(words...)
		}
		size := sizing{elements: rapid.IntRange(1, 20).Draw(rt, "elements"), positions: rapid.IntRange(1, 5).Draw(rt, "positions"), messages: rapid.IntRange(1, 3).Draw(rt, "messages")}
		r := run(t, size, sim.Schedule{Seed: rapid.Uint64().Draw(rt, "seed"), Reorder: 0.5, MaxDelay: 9}, sets...)
		if len(common(sets...)) > 0 {
			checkAligned(rt, r, sets)
			return
		}
		for _, o := range r.Nodes {
			var empty *EmptyError
			if o.End == nil || !errors.As(o.End.Err, &empty) {
				rt.Fatalf("%s ends with %v", o.Name, o.End)
			}
		}
	})
}

func TestNothingInCommon(t *testing.T) {
	for parties, want := range map[int]string{
		2: "psi: no id is common to north (2 ids), south (3 ids); check that all tables are about the same things, and that one rule makes all ids",
		3: "psi: no id is common to north (2 ids), south (3 ids), east (1 ids); check that all tables are about the same things, and that one rule makes all ids",
	} {
		r := run(t, bulk(), sim.Schedule{}, [][][]byte{ids("a", "b"), ids("A", "c", "d"), ids("b")}[:parties]...)
		for _, o := range r.Nodes {
			var empty *EmptyError
			if o.End == nil || !errors.As(o.End.Err, &empty) || empty.Error() != want {
				t.Fatalf("%s ends with %v, want %s", o.Name, o.End, want)
			}
			if !errors.Is(empty, protocol.ErrInput) || strings.ContainsAny(empty.Public(), "0123456789") {
				t.Errorf("others are told %q", empty.Public())
			}
		}
	}
}

// Realistic tables: shuffled, with a tenth of the rows missing at each party.
func TestShuffledAndIncomplete(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for parties := 2; parties <= 3; parties++ {
		random := rand.New(rand.NewPCG(5, uint64(parties)))
		sets := make([][][]byte, parties)
		for i := range sets {
			for _, row := range random.Perm(569)[:512] {
				sets[i] = append(sets[i], fmt.Appendf(nil, "patient-%05d", 842302+17*row))
			}
		}
		r := run(t, sizing{elements: 100, positions: 150, messages: 2}, sim.Schedule{}, sets...)
		checkAligned(t, r, sets)
	}
}

// The comparer chooses no order: it knows the order of the tokens only, which the parties'
// key shuffles.
func TestComparerDoesNotChooseTheOrder(t *testing.T) {
	var sets [][][]byte
	for range 3 {
		var set [][]byte
		for i := range 60 {
			set = append(set, fmt.Appendf(nil, "%d", i))
		}
		sets = append(sets, set)
	}
	r := run(t, bulk(), sim.Schedule{}, sets...)
	checkAligned(t, r, sets)
	p := party(r, 0)
	byToken, order := slices.Clone(p.exchange.rows()), p.Order()
	kept := 0
	for i := range order {
		if order[i] == byToken[i] {
			kept++
		}
	}
	if kept > 10 {
		t.Errorf("%d of %d rows stand where the comparer put them", kept, len(order))
	}
	slices.Sort(byToken)
	for i, row := range byToken {
		if i != row {
			t.Fatalf("place %d of the sorted rows holds %d", i, row)
		}
	}
	if slices.IsSorted(order) {
		t.Error("the rows stand in the order of their ids")
	}
}

func TestIDsThatAreRefused(t *testing.T) {
	p := params(t, Spec{MaxIDs: 3})
	s := newSession(t, p, 2)
	for _, c := range []struct {
		name string
		ids  [][]byte
		want string
	}{
		{"none", nil, "psi: the table has 0 ids; the session allows 1 to 3"},
		{"too many", ids("a", "b", "c", "d"), "psi: the table has 4 ids; the session allows 1 to 3"},
		{"missing", ids("a", ""), "psi: row 2 has no id; give each row its own id"},
		{"too long", ids("a", strings.Repeat("x", MaxIDBytes+1)), "psi: row 2 has an id of 1025 bytes; use at most 1024"},
		{"twice", ids("b", "a", "b"), `psi: rows 1 and 3 have the same id "b"; give each row its own id`},
	} {
		_, err := NewParty(setup(s, "north"), p, c.ids)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		var bad *IDError
		if errors.As(err, &bad) && (!errors.Is(err, protocol.ErrInput) || strings.ContainsAny(bad.Public(), `"0123456789`)) {
			t.Errorf("%s: others are told %q", c.name, bad.Public())
		}
	}
}

package roster

import (
	"slices"
	"strings"
	"testing"
)

// The hash of a subset depends on its own members only.
func TestSubset(t *testing.T) {
	all := hospitals(t)
	parties := all.Parties()
	hash := func(r *Roster, names ...string) [32]byte {
		t.Helper()
		s, err := r.Subset(names)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		return s.Hash()
	}
	if hash(all, parties...) != all.Hash() {
		t.Error("the subset of all parties is another roster")
	}
	fewer := all.Without(parties[1])
	if hash(all, parties[0]) != hash(fewer, parties[0]) {
		t.Error("a member that left changed the subset of others")
	}
	changed, _ := all.Lookup(parties[0])
	changed.Public = publicOf(t, 9)
	if hash(all, parties[0]) == hash(all.With(changed), parties[0]) {
		t.Error("other keys of a member did not change its subset")
	}
	other := *all
	other.Federation = "another"
	if hash(all, parties[0]) == hash(&other, parties[0]) {
		t.Error("another federation has the same subset")
	}
	for _, name := range []string{parties[1], all.Coordinator().Name, "nobody"} {
		if _, err := fewer.Subset([]string{name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a subset with %q: %v", name, err)
		}
	}
}

// With and Without leave the roster as it is, and Touched names members that did not only join.
func TestTouched(t *testing.T) {
	before := hospitals(t)
	names, hash := before.Parties(), before.Hash()
	newcomer := Member{Name: "west", Role: Party, Public: publicOf(t, 8)}
	changed, _ := before.Lookup(names[0])
	changed.Public = publicOf(t, 9)
	after := before.With(newcomer).With(changed).Without(names[1])
	if before.Hash() != hash {
		t.Fatal("the former roster has changed")
	}
	changes := Compare(before, after)
	if got := Touched(changes, append(names, newcomer.Name)); !slices.Equal(got, names[:2]) {
		t.Errorf("touched %v, want %v", got, names[:2])
	}
}

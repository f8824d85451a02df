package roster

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/identity"
)

// The members to compare are those that are new and those with other keys or another role.
func TestCompare(t *testing.T) {
	before, after := hospitals(t), hospitals(t)
	if got := Compare(before, after); len(got) != 0 {
		t.Errorf("an equal roster: %v", got)
	}
	after.Members[0] = secured(t).Members[0]                                                             // the coordinator has a TLS key
	after.Members[2].Public = publicOf(t, 9)                                                             // south has another identity
	after.Members = append(after.Members[:3], Member{Name: "west", Role: Party, Public: publicOf(t, 5)}) // east has left
	f := after.Members[2].Fingerprint()
	want := []Change{
		changeOf(OtherKeys, after.Members[0]),
		{OtherKeys, "south", Party, f.String(), f.Words(), Unsigned},
		changeOf(Added, after.Members[3]),
		{What: Removed, Name: "east", Role: Party},
	}
	got := Compare(before, after)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if line := got[1].String(); !strings.Contains(line, f.Words()) || !strings.HasPrefix(line, "other keys  south (party)  "+f.String()) {
		t.Error(line)
	}
	after = hospitals(t)
	after.Members[3].Role = Coordinator
	if got := Compare(before, after); len(got) != 1 || got[0].What != OtherKeys || got[0].Name != "east" {
		t.Errorf("another role: %v", got)
	}
}

// A signature of the earlier key over other keys is shown if it holds, and travels in both files.
func TestCompareShowsTheEarlierKeysSignature(t *testing.T) {
	seeds := func(b byte) *identity.Identity {
		id, err := identity.FromSeed([32]byte{b})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	earlier, next := seeds(2), seeds(9)
	before, after := hospitals(t), hospitals(t)
	before.Members[1].Public, after.Members[1].Public = earlier.Public(), next.Public()
	for signature, want := range map[string]Signature{
		string(earlier.SignNext("north", next.Public())):    Signed,
		string(earlier.SignNext("south", next.Public())):    Unsigned,
		string(next.SignNext("north", next.Public())):       Unsigned,
		string(earlier.SignNext("north", earlier.Public())): Unsigned,
		"": Unsigned,
	} {
		after.Members[1].Succession = []byte(signature)
		b, err := after.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		got := Compare(before, read)
		if len(got) != 1 || got[0].What != OtherKeys || got[0].Signed != want {
			t.Errorf("%+v, want %v", got, want)
		}
		if says := strings.Contains(got[0].String(), "the earlier key signed these"); says != (want == Signed) {
			t.Error(got[0])
		}
		if read.Hash() != before.withMember(after.Members[1]).Hash() {
			t.Error("the signature changes the hash that operators approve")
		}
	}
	after.Members[1].Succession = []byte("short")
	if _, err := after.Marshal(); err == nil {
		t.Error("a short signature is accepted")
	}
}

// withMember returns the roster with a member in the place of its namesake, without its signature.
func (r *Roster) withMember(m Member) *Roster {
	m.Succession = nil
	c := &Roster{Federation: r.Federation, Members: slices.Clone(r.Members)}
	for i := range c.Members {
		if c.Members[i].Name == m.Name {
			c.Members[i] = m
		}
	}
	return c
}

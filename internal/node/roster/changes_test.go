package roster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The members to compare are those that are new and those with other keys or another role.
func TestCompare(t *testing.T) {
	before, after := hospitals(t), hospitals(t)
	if got := Compare(before, after); len(got) != 0 {
		t.Errorf("an equal roster: %v", got)
	}
	after.Members[0] = secured(t).Members[0]                                         // the coordinator has a TLS key
	after.Members[2].Public = publicOf(t, 9)                                         // south has another identity
	after.Members = append(after.Members[:3], Member{"west", Party, publicOf(t, 5)}) // east has left
	f := after.Members[2].Fingerprint()
	want := []Change{
		changeOf(OtherKeys, after.Members[0]),
		{OtherKeys, "south", Party, f.String(), f.Words()},
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

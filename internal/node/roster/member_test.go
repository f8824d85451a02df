package roster

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemberFile(t *testing.T) {
	for _, m := range hospitals(t).Members {
		b, err := MarshalMember(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseMember(b)
		if err != nil || cmp.Diff(m, back) != "" {
			t.Fatalf("%v %s", err, cmp.Diff(m, back))
		}
	}
}

func TestMemberFileRefuses(t *testing.T) {
	good, err := MarshalMember(hospitals(t).Members[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another kind": {"kind: Member", "kind: Roster"},
		"unknown key":  {"kind: Member", "kind: Member\nmood: fine"},
		"bad name":     {"name: ", "name: ../"},
		"bad role":     {"role: ", "role: x"},
		"bad key":      {"sign: ", "sign: AAAA"},
	} {
		if _, err := ParseMember(bytes.Replace(good, []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

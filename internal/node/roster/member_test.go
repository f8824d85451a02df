package roster

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMemberFile(t *testing.T) {
	for _, m := range append(hospitals(t).Members, secured(t).Members[0]) {
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
	good, err := MarshalMember(secured(t).Members[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"another kind": {"kind: Member", "kind: Roster"},
		"unknown key":  {"kind: Member", "kind: Member\nmood: fine"},
		"bad name":     {"name: ", "name: ../"},
		"bad role":     {"role: ", "role: x"},
		"bad key":      {"sign: ", "sign: AAAA"},
		"bad TLS key":  {"tls: ", "tls: AAAA"},
		"a party's":    {"role: coordinator", "role: party"},
	} {
		if _, err := ParseMember(bytes.Replace(good, []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzParseMember(f *testing.F) {
	for _, m := range append(hospitals(f).Members, secured(f).Members[0]) {
		b, err := MarshalMember(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMember(b)
		if err != nil {
			return
		}
		again, err := MarshalMember(m)
		if err != nil {
			t.Fatalf("what ParseMember accepts cannot be written: %v", err)
		}
		if back, err := ParseMember(again); err != nil || back.Fingerprint() != m.Fingerprint() {
			t.Fatalf("a second round changes the member: %v", err)
		}
	})
}

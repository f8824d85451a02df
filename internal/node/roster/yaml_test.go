package roster

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSaveThenLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "roster.yaml")
	r := hospitals(t)
	if err := r.Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Errorf("-saved +loaded:\n%s", diff)
	}
	if _, err := Load(path + ".absent"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// YAML reads some valid names as numbers, truths or nothing unless quoted.
func TestNamesSurviveYAML(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,62}`),
		rapid.SampledFrom([]string{"null", "true", "no", "1e5", "0x1f", "017", "2001-01-01", "0b1", "0o7", "n", "y"}))
	base := hospitals(t)
	rapid.Check(t, func(t *rapid.T) {
		r := &Roster{name.Draw(t, "federation"), append([]Member(nil), base.Members...)}
		r.Members[1].Name = name.Filter(func(s string) bool { return s != "hub" && s != "south" && s != "east" && s != "transport" }).Draw(t, "member")
		b, err := r.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(b)
		if err != nil {
			t.Fatalf("%v\n%.300s", err, b)
		}
		if got.Hash() != r.Hash() {
			t.Fatalf("another roster came back:\n%s", cmp.Diff(r, got))
		}
	})
}

func TestParseRefuses(t *testing.T) {
	good := string(marshal(t))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the good file has no %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "the file is empty"},
		{"unknown key", good + "admin: true\n", `unknown key "admin"`},
		{"unknown key of a member", replace("role: party", "role: party\n    admin: true"), `unknown key "admin"`},
		{"a key twice", good + "kind: Roster\n", "is given twice; keep one"},
		{"second document", good + "---\nkind: Roster\n", "something follows"},
		{"wrong kind", replace("kind: Roster", "kind: Job"), `kind is "Job"`},
		{"wrong version", replace("mercer/v1", "mercer/v2"), `apiVersion is "mercer/v2"`},
		{"not base64", replace("sign: ", "sign: ?"), "line 7: a key must be written in base64"},
		{"key is a list", replace("sign: ", "sign: [] #"), "line 7: a key must be written in base64"},
		{"not YAML", "members: [", "this is not YAML"},
		{"a scalar", "roster", "write a map"},
		{"invalid content", replace("role: coordinator", "role: party"), "exactly one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Parse([]byte(c.text))
			if err == nil || r != nil || !strings.HasPrefix(err.Error(), "roster: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v, want an error with %q", r, err, c.want)
			}
		})
	}
}

func marshal(t testing.TB) []byte {
	t.Helper()
	b, err := hospitals(t).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func FuzzParse(f *testing.F) {
	f.Add(marshal(f))
	withTLS, err := secured(f).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(withTLS)
	f.Add([]byte("apiVersion: mercer/v1\nkind: Roster\nfederation: &a x\nmembers: [{name: *a}]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			return
		}
		again, err := r.Marshal()
		if err != nil {
			t.Fatalf("what Parse accepts cannot be written: %v", err)
		}
		if s, err := Parse(again); err != nil || s.Hash() != r.Hash() {
			t.Fatalf("a second round changes the roster: %v", err)
		}
	})
}

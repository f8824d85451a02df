package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/strictyaml"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

func parsed(t *testing.T, text string) (r Rules) {
	t.Helper()
	if err := strictyaml.Decode([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

const clinic = `viewer: {groups: [research]}
submitter: {users: [ines]}
approver: {users: [mara], uids: [1004]}
administrator: {uids: [0]}
`

// accounts are the users of a machine. The user 1009 has a name that is no user's in the setting.
func accounts(uid int) Account {
	return map[int]Account{
		1001: {1001, "ines", []string{"users"}}, 1002: {1002, "mara", nil}, 1003: {1003, "otto", []string{"users", "research"}},
		1004: {UID: 1004}, 1009: {1009, "", []string{""}},
	}[uid]
}

func TestWhoHasWhichRole(t *testing.T) {
	rules := parsed(t, clinic)
	g := Gate{Member: "north", Owner: 1009, Rules: func() Rules { return rules }, Accounts: accounts}
	for uid, may := range map[int][]Role{
		0: Roles(), 1001: {Viewer, Submitter}, 1002: {Viewer, Approver}, 1003: {Viewer}, 1004: {Viewer, Approver},
		1009: nil, UnknownUID: nil, 4711: nil,
	} {
		if uid == 4711 {
			rules = Rules{Alone: true} // names nobody: the owner and root
			may = nil
		}
		for _, role := range Roles() {
			want := false
			for _, has := range may {
				want = want || has == role
			}
			if err := g.Admit(uid, role); (err == nil) != want || err != nil && fault.CodeOf(err) != fault.CodePolicy {
				t.Errorf("user %d, %s: %v, want %t", uid, role, err, want)
			}
		}
		rules = parsed(t, clinic)
	}
	rules = Rules{Alone: true}
	if g.Admit(1009, Administrator) != nil || g.Admit(0, Administrator) != nil || g.Admit(1002, Viewer) == nil {
		t.Error("a setting that names nobody changes who may what")
	}
	g.Owner = UnknownUID // as a system says that has no users
	if g.Admit(UnknownUID, Viewer) == nil {
		t.Error("somebody unknown is the owner")
	}
}

func TestWrongRules(t *testing.T) {
	for text, want := range map[string]string{
		"approver: {users: [mara]}":                                         "roles names no administrator",
		"administrator: {uids: [-1]}":                                       "administrator in roles: uids has -1",
		"administrator: {uids: [4294967295]}":                               "administrator in roles: uids has 4294967295",
		"viewer: {users: [' ']}":                                            "viewer in roles: a name is empty",
		"submitter: {groups: ['']}":                                         "submitter in roles: a name is empty",
		"{administrator: {uids: [0]}, folder: /run/m}":                      "folder and group in roles belong together",
		"{administrator: {uids: [0]}, group: m}":                            "folder and group in roles belong together",
		"{administrator: {uids: [0]}, group: m, folder: run}":               `folder in roles is "run"; write an absolute path`,
		"{group: m, folder: /run/m}":                                        "folder in roles is of no use while nobody has a role",
		"{administrator: {uids: [0]}, group: m, folder: /run/m, alone: on}": "",
	} {
		r := parsed(t, strings.Replace(text, "alone: on", "alone: true", 1))
		if err := r.Check(); want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := strictyaml.Decode([]byte("viewers: {uids: [1]}"), &Rules{}); err == nil {
		t.Error("an unknown role")
	}
}

func at(member, machine string, uid int, subject string) Person {
	p := Person{Member: member, Machine: machine, Subject: subject}
	if uid >= 0 {
		p.UID = &uid
	}
	return p
}

// Two persons are two only if the daemons can tell them apart.
func TestMayBe(t *testing.T) {
	for _, c := range []struct {
		a, b Person
		want bool
	}{
		{at("hub", "", 7, ""), at("hub", "", 7, ""), true},
		{at("hub", "", 7, ""), at("hub", "", 8, ""), false},
		{at("hub", "", 7, ""), at("north", "", 7, ""), false}, // user 7 of another machine
		{at("hub", "m", 7, ""), at("north", "m", 7, ""), true},
		{at("hub", "m", 7, ""), at("north", "m", 8, ""), false},
		{at("hub", "m", 7, ""), at("north", "n", 7, ""), false},
		{at("hub", "", -1, "i mara"), at("north", "", -1, "i mara"), true}, // one login
		{at("hub", "", -1, "i mara"), at("hub", "", -1, "i otto"), false},
		{at("hub", "", 7, ""), at("hub", "", -1, "i otto"), true}, // nobody can tell
		{at("hub", "m", 7, ""), at("north", "m", -1, "i otto"), true},
		{at("hub", "", 7, ""), at("north", "", -1, "i otto"), false},
		{at("hub", "", -1, ""), at("hub", "", 7, ""), true},
		{at("hub", "", 7, "i mara"), at("hub", "", 8, "i otto"), false},
		{Person{}, at("north", "", 7, ""), true},
	} {
		if c.a.MayBe(c.b) != c.want || c.b.MayBe(c.a) != c.want {
			t.Errorf("%v and %v: %t", c.a, c.b, !c.want)
		}
	}
}

func TestPersonsTravel(t *testing.T) {
	for _, p := range []Person{{}, at("hub", "m", 0, ""), at("hub", "", 4294967294, "https://login.example mara"), at("hub", "", -1, "")} {
		var w wire.Writer
		p.Write(&w)
		r := wire.NewReader(w.Bytes())
		got := Read(r)
		if err := r.Close("person"); err != nil || got.String() != p.String() || got.Machine != p.Machine || (got.UID == nil) != (p.UID == nil) || got.UID != nil && *got.UID != *p.UID {
			t.Errorf("%v, %v, want %v", got, err, p)
		}
	}
	for _, p := range []Person{{Member: "a\x1b[2J"}, {Member: "a", Subject: strings.Repeat("x", maxSubject+1)}, {Member: "a", Machine: strings.Repeat("x", maxMachine+1)}} {
		var w wire.Writer
		p.Write(&w)
		r := wire.NewReader(w.Bytes())
		Read(r)
		if r.Close("person") == nil {
			t.Errorf("%q was read", p)
		}
	}
}

// A digest of a machine is the same for all its daemons in a federation, and tells nothing outside of it.
func TestMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "machine-id")
	if Machine("hospitals", path) != "" {
		t.Error("a machine without an id")
	}
	for _, text := range []string{"0123456789abcdef0123456789abcdef\n", "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		one, other := Machine("hospitals", path), Machine("shops", path)
		if known := len(text) > 1; known != (len(one) == 32) || known == (one == other) || strings.Contains(one, "0123456789abcdef") {
			t.Errorf("%q: %q, %q", text, one, other)
		}
		if second := path + "-second"; os.WriteFile(second, []byte("boot"), 0o600) != nil || (Machine("hospitals", path, second) == Machine("hospitals", second)) == (len(text) > 1) {
			t.Errorf("%q: the second file does not stand for a missing first one", text)
		}
	}
}

// The account of the user of this process has the name that the machine's files give it.
func TestSystemAccount(t *testing.T) {
	if a := SystemAccount(0); a.UID != 0 || a.Name != "root" || len(a.Groups) == 0 {
		t.Errorf("%+v", a)
	}
	if a := SystemAccount(4294967290); a.UID != 4294967290 || a.Name != "" || a.Groups != nil {
		t.Errorf("%+v", a)
	}
	r := Rules{Viewer: Holders{Users: []string{"root", "no such user"}, Groups: []string{"no such group"}}}
	if got := r.Strangers(); len(got) != 2 || got[0] != "group no such group" || got[1] != "user no such user" {
		t.Errorf("%q", got)
	}
}

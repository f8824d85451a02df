package access

import (
	"os"
	"path/filepath"
	"slices"
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
		"approver: {users: [mara]}":                                         `"roles" names no administrator`,
		"administrator: {uids: [-1]}":                                       `"administrator" in "roles": uids has -1`,
		"administrator: {uids: [4294967295]}":                               `"administrator" in "roles": uids has 4294967295`,
		"approver: {uids: [65534]}":                                         `"approver" in "roles": uids has 65534, which stands for every user`,
		"viewer: {users: [' ']}":                                            `"viewer" in "roles": a name is empty`,
		"submitter: {groups: ['']}":                                         `"submitter" in "roles": a name is empty`,
		"{administrator: {uids: [0]}, folder: /run/m}":                      `"folder" and "group" in "roles" belong together`,
		"{administrator: {uids: [0]}, group: m}":                            `"folder" and "group" in "roles" belong together`,
		"{administrator: {uids: [0]}, group: m, folder: run}":               `"folder" in "roles" is "run"; write an absolute path`,
		"{group: m, folder: /run/m}":                                        `"folder" in "roles" is of no use while nobody has a role`,
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

func at(member string, machine Machine, uid int, subject string) Person {
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
		{at("hub", "", 7, ""), at("north", "", 7, ""), true}, // nobody knows whether it is user 7 of another machine
		{at("hub", "m", 7, ""), at("north", "", 7, ""), true},
		{at("hub", "", 7, ""), at("north", "", 8, ""), false},
		{at("hub", "m", 7, ""), at("north", "m", 0, ""), true}, // root can be user 7
		{at("hub", "", 7, ""), at("hub", "", 0, ""), true},
		{at("hub", "m", 7, ""), at("north", "n", 0, ""), false}, // root of another machine
		{at("hub", "m", 7, ""), at("north", "m", 7, ""), true},
		{at("hub", "m", 7, ""), at("north", "m", 8, ""), false},
		{at("hub", "m", 7, ""), at("north", "n", 7, ""), false},
		{at("hub", "", -1, "i mara"), at("north", "", -1, "i mara"), true}, // one login
		{at("hub", "", -1, "i mara"), at("hub", "", -1, "i otto"), false},
		{at("hub", "", 7, ""), at("hub", "", -1, "i otto"), true}, // nobody can tell
		{at("hub", "m", 7, ""), at("north", "m", -1, "i otto"), true},
		{at("hub", "m", 7, ""), at("north", "n", -1, "i otto"), false},
		{at("hub", "", 7, ""), at("north", "", -1, "i otto"), true},
		{at("hub", "m", -1, "i mara"), at("north", "n", -1, "i mara"), true},
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
	for _, p := range []Person{{Member: "a\x1b[2J"}, {Member: "a", Subject: strings.Repeat("x", maxSubject+1)}, {Member: "a", Machine: Machine(strings.Repeat("x", maxMachine+1))}} {
		var w wire.Writer
		p.Write(&w)
		r := wire.NewReader(w.Bytes())
		Read(r)
		if r.Close("person") == nil {
			t.Errorf("%q was read", p)
		}
	}
}

// write writes a file of a test.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A machine is the same for all its daemons in a federation, and tells nothing outside of it.
func TestMachine(t *testing.T) {
	dir := t.TempDir()
	kept, boot := filepath.Join(dir, "machine-id"), filepath.Join(dir, "boot_id")
	if m := machineOf("hospitals", kept, boot); m != "/" {
		t.Errorf("a machine without ids: %q", m)
	}
	write(t, boot, "b")
	for _, none := range []string{"\n", "uninitialized\n"} {
		write(t, kept, none)
		if m := machineOf("hospitals", kept, boot); !strings.HasPrefix(string(m), "/") || len(m) != 33 {
			t.Errorf("%q: %q", none, m)
		}
	}
	write(t, kept, "0123456789abcdef0123456789abcdef\n")
	one, other := machineOf("hospitals", kept, boot), machineOf("shops", kept, boot)
	if len(one) != maxMachine || strings.Contains(string(one), "0123456789abcdef") || one[:32] == other[:32] || one[33:] == other[33:] {
		t.Errorf("%q, %q", one, other)
	}
}

// Machines are two only if both keep an id of their own and are not in one boot.
func TestMachinesMayBeOne(t *testing.T) {
	for _, c := range []struct {
		a, b Machine
		want bool
	}{
		{"m/b", "m/b", true}, {"m/b", "m/c", true}, // after a new start
		{"m/b", "n/c", false}, {"m", "n", false}, {"m/", "n/", false}, {"m/b", "n/", false},
		{"m/b", "n/b", true},                     // a container with an id of its own
		{"/b", "m/b", true}, {"/b", "m/c", true}, // a container without one, perhaps before a new start
		{"", "", true}, {"/", "m/b", true}, {"/b", "/c", true},
	} {
		if c.a.MayBe(c.b) != c.want || c.b.MayBe(c.a) != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, !c.want)
		}
	}
}

// Names come from the files alone, and lines of another form name nobody.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	f := Files{filepath.Join(dir, "passwd"), filepath.Join(dir, "group")}
	if a := f.Account(7); a.UID != 7 || a.Name != "" || a.Groups != nil {
		t.Errorf("without files: %+v", a)
	}
	write(t, f.Users, "root:x:0:0:root:/root:/bin/sh\n+:::::::\n#mara:x:1007:1::/:/\nmara:x:1007:20:Mara, M.D.:/home/mara:/bin/sh\nother:x:1007:21::/:/\nbroken:x:1008\n")
	write(t, f.Groups, "root:x:0:\nusers:x:20:\nresearch:x:30:otto,mara\n+nis:x:20:mara\nstaff:x:21:mar\nlarge:x:99999999999:\n")
	if a := f.Account(1007); a.Name != "mara" || !slices.Equal(a.Groups, []string{"users", "research"}) {
		t.Errorf("%+v", a)
	}
	for _, uid := range []int{1008, 100, 4294967290} {
		if a := f.Account(uid); a.UID != uid || a.Name != "" || a.Groups != nil {
			t.Errorf("%+v", a)
		}
	}
	for name, want := range map[string]int{"research": 30, "root": 0, "+nis": -1, "none": -1, "large": -1, "": -1} {
		if gid, found := f.Group(name); found != (want >= 0) || found && gid != want {
			t.Errorf("group %q: %d, %t", name, gid, found)
		}
	}
	r := Rules{Viewer: Holders{Users: []string{"mara", "broken"}, Groups: []string{"users", "mara"}}}
	if got := f.Strangers(r); !slices.Equal(got, []string{"group mara", "user broken"}) {
		t.Errorf("%q", got)
	}
	if a := SystemFiles().Account(0); a.Name != "root" || len(a.Groups) == 0 {
		t.Errorf("this machine: %+v", a)
	}
}

// The number by which the kernel names all users of other namespaces has no role and is nobody in particular.
func TestUsersOfOtherNamespaces(t *testing.T) {
	g := Gate{Member: "north", Owner: 1, Accounts: func(uid int) Account { return Account{UID: uid, Name: "nobody"} }, Rules: func() Rules {
		return Rules{Viewer: Holders{UIDs: []int{overflowUID}}, Administrator: Holders{Users: []string{"nobody"}}}
	}}
	if g.Admit(overflowUID, Viewer) == nil || g.Admit(7, Viewer) != nil {
		t.Error("the number stands for a user")
	}
	if !g.Person(overflowUID).MayBe(g.Person(7)) || g.Person(8).MayBe(g.Person(7)) {
		t.Error("a user of another namespace is certainly somebody else")
	}
}

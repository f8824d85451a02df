package roster

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/protocol"
)

func publicOf(t testing.TB, seed byte) identity.Public {
	t.Helper()
	id, err := identity.FromSeed([identity.SeedSize]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	return id.Public()
}

// secured is hospitals with a TLS key of the coordinator.
func secured(t testing.TB) *Roster {
	r := hospitals(t)
	id, err := identity.FromSeed([identity.SeedSize]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	r.Members[0].Public = id.PublicTLS()
	return r
}

// hospitals is a coordinator and three parties.
func hospitals(t testing.TB) *Roster {
	return &Roster{"digits", []Member{
		{Name: "hub", Role: Coordinator, Public: publicOf(t, 1)},
		{Name: "north", Role: Party, Public: publicOf(t, 2)},
		{Name: "south", Role: Party, Public: publicOf(t, 3)},
		{Name: "east", Role: Party, Public: publicOf(t, 4)},
	}}
}

func TestLookup(t *testing.T) {
	r := hospitals(t)
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	m, ok := r.Lookup("south")
	if diff := cmp.Diff(r.Members[2], m); !ok || diff != "" {
		t.Errorf("south: %v\n%s", ok, diff)
	}
	if k, ok := r.SigningKey("south"); !ok || !k.Equal(publicOf(t, 3).Sign) {
		t.Errorf("south's signing key: %x, %v", k, ok)
	}
	if _, ok := r.Lookup("west"); ok {
		t.Error("found west, who is not there")
	}
	if _, ok := r.SigningKey("west"); ok {
		t.Error("found the key of west, who is not there")
	}
	if got := r.Coordinator().Name; got != "hub" {
		t.Errorf("coordinator %q", got)
	}
}

func TestHashIgnoresOrder(t *testing.T) {
	r, shuffled := hospitals(t), hospitals(t)
	slices.Reverse(shuffled.Members)
	if r.Hash() != shuffled.Hash() {
		t.Error("the same members in another order have another hash")
	}
	if shuffled.Members[0].Name != "east" {
		t.Error("Hash changed the order of the members")
	}
}

// A roster without a TLS key has the hash that it had before there was one, and another one
// than with a key, whatever the key.
func TestHashOfARosterWithoutTLS(t *testing.T) {
	const before = "b2e6e894cf9ba398f07e91ecc877412dec843e05776ba97ec2a90c25cfdb49b7"
	if got := hex.EncodeToString(hash(hospitals(t))); got != before {
		t.Errorf("hash %s, want %s", got, before)
	}
	other := secured(t)
	other.Members[0].TLS = publicOf(t, 9).Sign
	if plain, one := hospitals(t), secured(t); plain.Hash() == one.Hash() || one.Hash() == other.Hash() {
		t.Error("the TLS key is not in the hash")
	}
	if plain, one := hospitals(t).Fingerprints(), secured(t).Fingerprints(); plain[0] == one[0] || plain[0] == other.Fingerprints()[0] || one[1] != plain[1] {
		t.Error("the TLS key is not in the coordinator's fingerprint alone")
	}
}

func hash(r *Roster) []byte {
	h := r.Hash()
	return h[:]
}

func TestHashBindsEverything(t *testing.T) {
	want := secured(t).Hash()
	other := publicOf(t, 9)
	for name, edit := range map[string]func(*Roster){
		"federation": func(r *Roster) { r.Federation = "digit" },
		"name":       func(r *Roster) { r.Members[1].Name = "nort" },
		"role":       func(r *Roster) { r.Members[1].Role = Coordinator },
		"sign":       func(r *Roster) { r.Members[1].Sign = other.Sign },
		"kem":        func(r *Roster) { r.Members[1].KEM = other.KEM },
		"nkey":       func(r *Roster) { r.Members[1].NKey = other.NKey },
		"tls":        func(r *Roster) { r.Members[0].TLS = other.Sign },
		"fewer":      func(r *Roster) { r.Members = r.Members[:3] },
		"swapped":    func(r *Roster) { r.Members[1].Name, r.Members[2].Name = "south", "north" },
	} {
		r := secured(t)
		edit(r)
		if r.Hash() == want {
			t.Errorf("%s: another roster has the same hash", name)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*Roster)
		want string
	}{
		{"no federation", func(r *Roster) { r.Federation = "" }, "federation: the name has 0 bytes"},
		{"no coordinator", func(r *Roster) { r.Members[0].Role = Party }, "0 members have the role \"coordinator\""},
		{"two coordinators", func(r *Roster) { r.Members[1].Role = Coordinator }, "2 members have the role \"coordinator\""},
		{"no members", func(r *Roster) { r.Members = nil }, "0 members have the role \"coordinator\""},
		{"unknown role", func(r *Roster) { r.Members[1].Role = "boss" }, `member "north": the role is "boss"`},
		{"two of one name", func(r *Roster) { r.Members[2].Name = "north" }, `two members are called "north"`},
		{"shared signing key", func(r *Roster) { r.Members[2].Sign = r.Members[1].Sign }, `"north" and "south" have the same signing key`},
		{"shared KEM key", func(r *Roster) { r.Members[2].KEM = r.Members[1].KEM }, `"north" and "south" have the same KEM key`},
		{"shared nkey", func(r *Roster) { r.Members[2].NKey = r.Members[1].NKey }, `"north" and "south" have the same nkey`},
		{"TLS key of a party", func(r *Roster) { r.Members[1].TLS = publicOf(t, 9).Sign }, `member "north": the party has a TLS key`},
		{"short TLS key", func(r *Roster) { r.Members[0].TLS = make([]byte, 31) }, `member "hub": identity: the TLS key has 31 bytes`},
		{"signing key as TLS key", func(r *Roster) { r.Members[0].TLS = r.Members[0].Sign }, `"hub" and "hub" have the same signing key`},
		{"another's signing key as TLS key", func(r *Roster) { r.Members[0].TLS = r.Members[2].Sign }, `have the same signing key`},
		{"broken key", func(r *Roster) { r.Members[2].Sign = nil }, `member "south": identity: the signing key has 0 bytes`},
		{"reserved name", func(r *Roster) { r.Members[2].Name = protocol.Transport }, "reserved"},
		{"empty name", func(r *Roster) { r.Members[2].Name = "" }, "the name has 0 bytes"},
		{"long name", func(r *Roster) { r.Members[2].Name = strings.Repeat("a", 64) }, "the name has 64 bytes"},
		{"subject wildcard", func(r *Roster) { r.Members[2].Name = "a.>" }, "lower-case letters"},
		{"path", func(r *Roster) { r.Members[2].Name = "../up" }, "lower-case letters"},
		{"upper case", func(r *Roster) { r.Members[2].Name = "North" }, "lower-case letters"},
		{"leading hyphen", func(r *Roster) { r.Members[2].Name = "-rf" }, "must not begin with a hyphen"},
		{"not ASCII", func(r *Roster) { r.Members[2].Name = "nørd" }, "lower-case letters"},
		{"crowd", func(r *Roster) { r.Members = make([]Member, MaxMembers+1) }, "4097 members, but at most 4096 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := hospitals(t)
			c.edit(r)
			err := r.Validate()
			if err == nil || !strings.HasPrefix(err.Error(), "roster: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if _, err := r.Marshal(); err == nil {
				t.Error("Marshal writes an invalid roster")
			}
		})
	}
}

func TestNamesThatAreFine(t *testing.T) {
	for _, name := range []string{"a", "0", "north", "st-mary-2", "a-", strings.Repeat("z", 63)} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestFingerprintsNameEveryMember(t *testing.T) {
	r := hospitals(t)
	lines := r.Fingerprints()
	for i, m := range r.Members {
		if want := publicOf(t, byte(i+1)).Fingerprint().String() + " " + m.Name + " (" + string(m.Role) + ")"; lines[i] != want {
			t.Errorf("got %q, want %q", lines[i], want)
		}
	}
}

// A member whose name is the word for its role has that word once in its title.
func TestTitle(t *testing.T) {
	for _, c := range []struct {
		role       Role
		name, want string
	}{
		{Coordinator, "hub", "coordinator hub"}, {Coordinator, "coordinator", "coordinator"}, {Coordinator, "Coordinator", "Coordinator"},
		{Party, "coordinator", "party coordinator"}, {Party, "party", "party"}, {Party, "party-1", "party party-1"},
	} {
		if got := (Member{Name: c.name, Role: c.role}).Title(); got != c.want {
			t.Errorf("%s %s: %q", c.role, c.name, got)
		}
	}
}

package secureboost

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/paillier"
	"github.com/mercer-fl/mercer/protocol"
)

func TestParamsThatAreRefused(t *testing.T) {
	good := Spec{Rows: 10, Training: 8, Rounds: 1, Depth: 1}
	for want, change := range map[string]func(*Spec){
		"encryption": func(s *Spec) { s.Encryption = "rsa" }, "aligned rows": func(s *Spec) { s.Rows = MaxRows + 1 },
		"training rows": func(s *Spec) { s.Training = 11 }, "rounds": func(s *Spec) { s.Rounds = 0 },
		"depth": func(s *Spec) { s.Depth = 9 }, "for tests": func(s *Spec) { s.InsecureKeyBits = 2048 },
	} {
		s := good
		change(&s)
		if _, err := NewParams(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	p, err := NewParams(good)
	if err != nil || p.Spec().Encryption != Paillier || p.keyBits() != paillier.Bits {
		t.Errorf("the default is %+v with %d bits, %v", p.Spec(), p.keyBits(), err)
	}
}

func TestSessionsAndInputsThatAreRefused(t *testing.T) {
	f := newFederation(t, Spec{Encryption: None, Rows: 10, Training: 8, Rounds: 1, Depth: 1}, 1, 2)
	for name, members := range map[string][]protocol.Member{
		"no guest": protocol.Members(protocol.RoleParty, "a", "b"), "two guests": protocol.Members(protocol.RoleLeader, "a", "b"),
		"no host": protocol.Members(protocol.RoleLeader, "a"),
	} {
		d := f.session.Descriptor
		d.Members = members
		s, err := protocol.NewSession(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ValidateSession(s); err == nil {
			t.Errorf("%s: a session is possible", name)
		}
	}
	for name, change := range map[string]func(*Input){
		"no hash": func(in *Input) { in.Hash = [32]byte{} }, "another order": func(in *Input) { in.Alignment[0] ^= 1 },
		"fewer bins": func(in *Input) { in.Bins = in.Bins[:1] }, "no bin": func(in *Input) { in.Bins = []int{0, 4} },
		"fewer rows":   func(in *Input) { in.Codes = [][]uint8{in.Codes[0][:9], in.Codes[1]} },
		"another code": func(in *Input) { in.Codes = [][]uint8{{9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, in.Codes[1]} },
	} {
		in := f.inputs[1]
		change(&in)
		if _, err := NewHost(f.setup(1), in); err == nil {
			t.Errorf("%s: a host is made", name)
		}
	}
	if _, err := NewGuest(f.setup(0), f.inputs[0], nil); err == nil {
		t.Error("a guest without a learner is made")
	}
}

// Sums of both signs come out of one plaintext as they went in.
func TestSlots(t *testing.T) {
	key, err := newOwner([32]byte{1}, 512)
	if err != nil {
		t.Fatal(err)
	}
	host := &blind{bits: 512, seed: [32]byte{2}}
	if err := host.meet(key.hello()); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	const most = 1 << 44
	for range 20 {
		want := make([][2]int64, 12)
		host.begin(len(want))
		for i := range want {
			want[i] = [2]int64{rng.Int64N(2*most+1) - most, rng.Int64N(most)}
			if i%5 == 0 {
				want[i] = [2]int64{-most, most}
			}
			if i%5 == 1 {
				want[i] = [2]int64{}
				continue
			}
			body, err := key.seal(0, i, want[i:i+1])
			if err != nil {
				t.Fatal(err)
			}
			list, err := ciphertexts(host.key, body)
			if err != nil {
				t.Fatal(err)
			}
			host.cells[i] = list[0]
		}
		l := sealedLayout(512)
		body, err := host.pack(1, 0, l.blocksOf(len(want)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := key.open(body)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if i < len(want) && v != want[i] || i >= len(want) && v != [2]int64{} {
				t.Fatalf("sum %d is %v, of %v", i, v, want)
			}
		}
	}
}

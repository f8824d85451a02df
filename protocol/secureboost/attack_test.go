package secureboost

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/crypto/paillier"
	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// wdbc is a session on real data: the guest has ten columns and the labels, the host the
// other twenty.
func wdbc(t *testing.T, e Encryption, rows, rounds, depth int) *federation {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	set = set.Subset(dataset.Complement(rows, nil))
	_, codes := dataset.Classes(set.Labels)
	y := make([]float64, len(codes))
	for i, c := range codes {
		y[i] = float64(c)
	}
	s := Spec{Encryption: e, Rows: rows, Training: rows, Rounds: rounds, Depth: depth}
	return shared(t, s, boost.Bin(dataset.RowsOf(set.X), rows, 16), y, 10, 20)
}

// gradientsSeen are the bodies of the first tree's gradients, row by row.
func gradientsSeen(t *testing.T, f *federation) [][]byte {
	t.Helper()
	all := make([][]byte, f.params.Spec().Training)
	f.run(t, func(m protocol.Message) []protocol.Message {
		if m.Round == roundGradients && m.Sequence == 0 {
			l := plainLayout()
			if f.params.Spec().Encryption == Paillier {
				l = sealedLayout(toyKey)
			}
			for i := range len(m.Body) / l.row {
				all[int(m.Chunk)*l.rows+i] = m.Body[i*l.row : (i+1)*l.row]
			}
		}
		return []protocol.Message{m}
	})
	return all
}

// The known attack: a gradient of the first tree is p - y, and p is the same for all
// rows. Without encryption a host reads every label from its sign.
func TestAttackGradientsAreLabels(t *testing.T) {
	f := wdbc(t, None, 569, 1, 2)
	for i, b := range gradientsSeen(t, f) {
		label := 0.0
		if int64(binary.LittleEndian.Uint64(b)) < 0 {
			label = 1
		}
		if label != f.y[i] {
			t.Fatalf("row %d is taken for %v, it is %v", i, label, f.y[i])
		}
	}
}

// Under encryption the attack has nothing to go by: no two rows have equal ciphertexts,
// and the lowest bit of a ciphertext guesses labels no better than a coin does.
func TestAttackOnCiphertextsFails(t *testing.T) {
	f := wdbc(t, Paillier, 400, 1, 1)
	seen, right := make(map[string]bool), 0
	for i, b := range gradientsSeen(t, f) {
		if seen[string(b)] {
			t.Fatal("two rows have equal ciphertexts")
		}
		seen[string(b)] = true
		if float64(b[len(b)-1]&1) == f.y[i] {
			right++
		}
	}
	if right < 160 || right > 240 { // four deviations of 400 coins
		t.Errorf("%d of 400 labels are guessed", right)
	}
}

// levels are the rows of a host's nodes at one level of each tree, as the host has them.
func levels(t *testing.T, f *federation, depth int) [][]int {
	t.Helper()
	h, err := NewHost(f.setup(1), f.inputs[1])
	if err != nil {
		t.Fatal(err)
	}
	var groups [][]int
	feed := func(e protocol.Event) {
		effects, err := h.Step(e)
		for err == nil && effects.Resume {
			effects, err = h.Step(protocol.Resumed{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	feed(protocol.Start{InputHash: h.InputHash()})
	f.run(t, func(m protocol.Message) []protocol.Message {
		if m.Receiver == f.names[1] {
			feed(protocol.Received{Message: m})
		}
		if m.Round == roundDivide && h.depth == depth {
			for _, n := range h.level {
				var group []int
				for _, r := range n.rows {
					group = append(group, int(r))
				}
				groups = append(groups, group)
			}
		}
		return []protocol.Message{m}
	})
	return groups
}

// The known leak that encryption does not close: a host sees which rows are together in a
// node, and they have similar labels. A host that knows one label of each node, or which
// class is the more frequent one there, guesses the labels of nearly all rows.
func TestAttackNodesGiveLabelsAway(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, e := range []Encryption{None, Paillier} {
		f := wdbc(t, e, 300, 1, 3)
		right, total, frequent := 0, 0, 0
		for _, y := range f.y {
			frequent += int(y)
		}
		for _, group := range levels(t, f, 2) {
			ones := 0
			for _, i := range group {
				ones += int(f.y[i])
			}
			right, total = right+max(ones, len(group)-ones), total+len(group)
		}
		share, blind := float64(right)/float64(total), float64(max(frequent, 300-frequent))/300
		t.Logf("%s: %.3f of %d rows by their node, %.3f by the more frequent class", e, share, total, blind)
		if total < 250 || share < blind+0.2 {
			t.Errorf("%s: %.3f of %d rows are guessed right, and %.3f without nodes", e, share, total, blind)
		}
	}
}

// A dishonest guest: one row has a gradient and all others have none, and the host's sums name the
// bin of that row in every column. Nothing prevents it.
func TestAttackOneRowSingledOut(t *testing.T) {
	f := newFederation(t, Spec{Encryption: Paillier, Rows: 30, Training: 30, Rounds: 1, Depth: 1}, 1, 3)
	const victim = 7
	spy := &spy{victim: victim}
	nodes := f.nodes()
	nodes[0].New = func() (protocol.Machine, error) { return NewGuest(f.setup(0), f.inputs[0], spy) }
	runNodes(t, f, nodes)
	for c := range 3 {
		if got, want := spy.bins[1+c], int(f.inputs[1].Codes[c][victim]); got != want {
			t.Errorf("column %d: bin %d is read, it is %d", c, got, want)
		}
	}
}

// spy is a learner that wants to know the bins of one row.
type spy struct {
	victim int
	bins   []int
	done   bool
}

func (s *spy) Gradients() ([][2]int64, bool) {
	list := make([][2]int64, 30)
	for i := range list {
		list[i] = [2]int64{0, 1}
	}
	list[s.victim][0] = 1
	return list, !s.done
}

func (s *spy) Split(_ int, histogram [][][2]int64) (column, bin int, ok bool) {
	for _, cells := range histogram {
		for b, c := range cells {
			if c[0] != 0 {
				s.bins = append(s.bins, b)
			}
		}
	}
	return 0, 0, false
}

func (s *spy) Leaf(int, [2]int64, []int32) {}

func (s *spy) Done() { s.done = true }

// A guest splits the root wherever it likes, with no regard to gradients: the host sends the side of
// every row, held-out rows included.
func TestAttackSidesOfAChosenBin(t *testing.T) {
	f := newFederation(t, Spec{Encryption: Paillier, Rows: 40, Training: 30, Rounds: 1, Depth: 1}, 1, 3)
	const column, bin = 2, 1
	for _, own := range []int{0, 1} {
		c := &chooser{spy: spy{}, column: own + column, bin: bin, left: make(map[int]bool)}
		nodes := f.nodes()
		nodes[0].New = func() (protocol.Machine, error) { return NewGuest(f.setup(0), f.inputs[0], c) }
		runNodes(t, f, nodes)
		codes := f.inputs[1].Codes[own+column-1]
		for i, code := range codes {
			if c.left[i] != (code <= bin) {
				t.Errorf("row %d is in bin %d, and read as one of the left: %v", i, code, c.left[i])
			}
		}
		if len(c.left) == 0 || len(c.left) == len(codes) {
			t.Errorf("%d of %d rows go left, so that the test shows nothing", len(c.left), len(codes))
		}
	}
}

// A learner that splits at a column that nobody has ends the session with an error.
func TestSplitAtNoColumn(t *testing.T) {
	f := newFederation(t, Spec{Encryption: Paillier, Rows: 40, Training: 30, Rounds: 1, Depth: 1}, 1, 3)
	for _, column := range []int{-1, 6} {
		nodes := f.nodes()
		nodes[0].New = func() (protocol.Machine, error) {
			return NewGuest(f.setup(0), f.inputs[0], &chooser{column: column})
		}
		r, err := sim.Run(sim.Config{Session: f.session, Nodes: nodes})
		if err == nil {
			err = r.Err()
		}
		if err == nil || !strings.Contains(err.Error(), "which no member has") {
			t.Errorf("column %d: %v", column, err)
		}
	}
}

// chooser is a learner that splits the root at a bin of its choice, and notes who goes left.
type chooser struct {
	spy
	column, bin int
	left        map[int]bool
}

func (c *chooser) Split(int, [][][2]int64) (column, bin int, ok bool) { return c.column, c.bin, true }

func (c *chooser) Leaf(node int, _ [2]int64, rows []int32) {
	for _, r := range rows {
		if node == 2 {
			c.left[int(r)] = true
		}
	}
}

// Nothing bounds a plaintext: a guest that lies puts 2^i into the ciphertext of row i, and one block of
// sums shows the bins of all rows of a chunk of 96. Other trees show the others.
func TestAttackBinsOfAllRows(t *testing.T) {
	const bits = 512 // 5 slots of 96 bits; 2,048 have 21
	const bins, rows = 4, slot
	guest, err := newOwner([32]byte{1}, bits)
	if err != nil {
		t.Fatal(err)
	}
	host := &blind{bits: bits, seed: [32]byte{2}, rows: make([]*big.Int, rows)}
	if err := host.meet(guest.hello()); err != nil {
		t.Fatal(err)
	}
	var body []byte
	for i := range rows {
		e, err := paillier.NewExponent(stream([32]byte{3}, "row", 0, i))
		if err != nil {
			t.Fatal(err)
		}
		c := guest.key.Encrypt(new(big.Int).Lsh(big.NewInt(1), uint(i)), e)
		body = append(body, c.FillBytes(make([]byte, guest.key.Bytes()))...)
	}
	if err := host.take(0, body); err != nil {
		t.Fatal(err)
	}
	host.begin(bins)
	secret := make([]int, rows)
	for i := range secret {
		if secret[i] = (i*i + 3*i) % (bins + 1); secret[i] > 0 {
			host.add(secret[i]-1, i)
		}
	}
	out, err := host.pack(1, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, err := ciphertexts(&guest.key.PublicKey, out)
	if err != nil {
		t.Fatal(err)
	}
	sums := guest.key.Decrypt(list[0])
	for i, want := range secret {
		bin := 0
		for k := range bins {
			bin += (k + 1) * int(sums.Bit(slot*k+i))
		}
		if bin != want {
			t.Errorf("row %d: bin %d is read, it is %d", i, bin, want)
		}
	}
}

// A guest whose modulus p q has p dividing q-1 marks rows in a part of the group in which no n-th
// power lies, so that no blinding hides it. It has no proof about such a key, and hosts refuse it.
func TestAttackMadeUpKey(t *testing.T) {
	const bits = 512
	one, p, n, q := big.NewInt(1), big.NewInt(1), new(big.Int), new(big.Int)
	for p.Lsh(p, 239).Add(p, one); !p.ProbablyPrime(20); p.Add(p, big.NewInt(2)) {
	}
	for k := new(big.Int).Lsh(one, 31); ; k.Add(k, one) {
		if q.Mul(p, k).Add(q, one); n.Mul(p, q).BitLen() == bits && q.ProbablyPrime(20) {
			break
		}
		if n.BitLen() < bits {
			k.Lsh(k, 1)
		}
	}
	key, err := paillier.NewPublicKey(n.Bytes(), bits)
	if err != nil {
		t.Fatal(err)
	}
	host := &blind{bits: bits, seed: [32]byte{2}}
	for _, proof := range [][]byte{nil, make([]byte, paillier.ProofBytes(bits)), bytes.Repeat(one.FillBytes(make([]byte, bits/8)), paillier.ProofBytes(bits)*8/bits)} {
		if err := host.meet(append(key.Modulus(), proof...)); err == nil || !strings.Contains(err.Error(), "the proof about the key") {
			t.Errorf("a proof of %d bytes: got %v", len(proof), err)
		}
	}
}

package secureboost

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/mercer-fl/mercer/internal/crypto/paillier"
	"github.com/mercer-fl/mercer/linalg"
)

// A slot of a plaintext holds a sum of second derivatives in its lower half and a sum of
// gradients in its upper half.
const (
	halfSlot = 48
	slot     = 2 * halfSlot
)

func sealedLayout(bits int) layout {
	bytes := bits / 4 // length of a ciphertext in bytes
	return layout{row: bytes, rows: 128, block: bytes, slots: (bits - 2) / slot, blocks: 16, additions: 1 << 12, packs: 2}
}

// owner implements opener by Paillier's encryption. It holds the guest's private key.
type owner struct {
	key  *paillier.PrivateKey
	seed [32]byte
}

func newOwner(seed [32]byte, bits int) (*owner, error) {
	key, err := paillier.GenerateKey(stream(seed, "key", 0, 0), bits)
	if err != nil {
		return nil, fmt.Errorf("secureboost: %w", err)
	}
	return &owner{key, seed}, nil
}

func (o *owner) hello() []byte { return append(o.key.Modulus(), o.key.Proof()...) }

func (o *owner) seal(tree, first int, g [][2]int64) ([]byte, error) {
	size := o.key.Bytes()
	body, failed := make([]byte, size*len(g)), make([]error, len(g))
	linalg.Each(len(g), 8, func(i int) {
		m := big.NewInt(g[i][0])
		m.Lsh(m, halfSlot).Add(m, big.NewInt(g[i][1]))
		e, err := paillier.NewExponent(stream(o.seed, "row", tree, first+i))
		if failed[i] = err; err == nil {
			o.key.Encrypt(m, e).FillBytes(body[size*i : size*(i+1)])
		}
	})
	return body, errors.Join(failed...)
}

func (o *owner) open(body []byte) ([][2]int64, error) {
	list, err := ciphertexts(&o.key.PublicKey, body)
	if err != nil {
		return nil, err
	}
	slots := sealedLayout(8 * o.key.Bytes() / 2).slots
	sums, failed := make([][2]int64, slots*len(list)), make([]error, len(list))
	linalg.Each(len(list), 1, func(i int) {
		failed[i] = unpack(sums[slots*i:slots*(i+1)], o.key.Signed(list[i]))
	})
	return sums, errors.Join(failed...)
}

// unpack decodes sums from the slots of a plaintext. The first sum is in the lowest bits.
func unpack(dst [][2]int64, m *big.Int) error {
	mask := new(big.Int).Lsh(big.NewInt(1), halfSlot)
	mask.Sub(mask, big.NewInt(1))
	low := new(big.Int)
	for i := range dst {
		for part := range 2 {
			v := low.And(m, mask).Int64()
			if part == 1 && v >= 1<<(halfSlot-1) { // the gradient is negative, so its encoding borrowed 1 from the next slot
				v -= 1 << halfSlot
			}
			m.Sub(m, big.NewInt(v)).Rsh(m, halfSlot)
			dst[i][1-part] = v
		}
	}
	if m.Sign() != 0 {
		return errors.New("the plaintext has more bits than its sums require")
	}
	return nil
}

func ciphertexts(key *paillier.PublicKey, body []byte) ([]*big.Int, error) {
	list := make([]*big.Int, len(body)/key.Bytes())
	for i := range list {
		list[i] = new(big.Int).SetBytes(body[key.Bytes()*i : key.Bytes()*(i+1)])
	}
	return list, key.Check(list...)
}

// blind implements adder by Paillier's encryption. It holds the guest's public key.
type blind struct {
	bits  int
	seed  [32]byte
	key   *paillier.PublicKey // nil before the guest's key has arrived
	rows  []*big.Int
	cells []*big.Int // encrypted sums; nil for a sum of no row
}

func (b *blind) meet(body []byte) error {
	size := (b.bits + 7) / 8
	if len(body) < size {
		return errors.New("the guest's key is too short")
	}
	key, err := paillier.NewPublicKey(body[:size], b.bits)
	if err != nil {
		return err
	}
	b.key = key
	return key.Verify(body[size:])
}

func (b *blind) take(first int, body []byte) error {
	list, err := ciphertexts(b.key, body)
	if err != nil {
		return err
	}
	copy(b.rows[first:], list)
	return nil
}

func (b *blind) begin(cells int) { b.cells = make([]*big.Int, cells) }

func (b *blind) add(cell, row int) {
	if b.cells[cell] == nil {
		b.cells[cell] = new(big.Int).Set(b.rows[row])
		return
	}
	b.key.Add(b.cells[cell], b.rows[row])
}

// pack combines several encrypted sums in one ciphertext and blinds the ciphertext.
func (b *blind) pack(number uint32, first, count int) ([]byte, error) {
	size, slots := b.key.Bytes(), sealedLayout(b.bits).slots
	body, failed := make([]byte, size*count), make([]error, count)
	linalg.Each(count, 1, func(i int) {
		at := slots * (first + i)
		sum, err := b.key.Blind(b.packed(b.cells[at:min(at+slots, len(b.cells))]), stream(b.seed, "blind", int(number), first+i))
		if failed[i] = err; err == nil {
			sum.FillBytes(body[size*i : size*(i+1)])
		}
	})
	return body, errors.Join(failed...)
}

func (b *blind) packed(cells []*big.Int) *big.Int {
	sum := big.NewInt(1) // the encryption of 0 with randomness 1, which pack blinds later
	for k := len(cells) - 1; k >= 0; k-- {
		if sum.Cmp(big.NewInt(1)) != 0 {
			sum = b.key.Shift(sum, slot)
		}
		if cells[k] != nil {
			b.key.Add(sum, cells[k])
		}
	}
	return sum
}

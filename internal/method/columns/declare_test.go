package columns

import (
	"bytes"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

func declarationOf(rows int, order byte) []byte {
	d := Declaration{Rows: rows, alignment: [32]byte{order}}
	d.Columns.Columns = 1
	return d.encode()
}

// A party whose rows, or their order, differ from the other parties' rows is found and named
// before anything is computed from them.
func TestMisalignedPartyIsNamed(t *testing.T) {
	parties := []string{"guest", "host", "third"}
	for name, c := range map[string]struct {
		statements [][]byte
		blamed     string
	}{
		"all the same":      {[][]byte{declarationOf(9, 1), declarationOf(9, 1), declarationOf(9, 1)}, ""},
		"another order":     {[][]byte{declarationOf(9, 1), declarationOf(9, 2), declarationOf(9, 1)}, "host"},
		"the label holder":  {[][]byte{declarationOf(9, 2), declarationOf(9, 1), declarationOf(9, 1)}, "guest"},
		"fewer rows":        {[][]byte{declarationOf(9, 1), declarationOf(9, 1), declarationOf(8, 1)}, "third"},
		"all differ":        {[][]byte{declarationOf(9, 1), declarationOf(9, 2), declarationOf(9, 3)}, "nobody"},
		"one of two":        {[][]byte{declarationOf(9, 1), declarationOf(9, 2)}, "nobody"},
		"no statement":      {[][]byte{declarationOf(9, 1), {1, 2, 3}, declarationOf(9, 1)}, "host"},
		"rows of too many":  {[][]byte{declarationOf(1<<22+1, 1), declarationOf(1<<22+1, 1), declarationOf(1<<22+1, 1)}, "guest"},
		"columns of nobody": {[][]byte{declarationOf(9, 1), declarationOf(9, 1), (Declaration{Rows: 9}).encode()}, "third"},
	} {
		_, err := readDeclared(parties, c.statements)
		var blame *protocol.BlameError
		switch {
		case c.blamed == "" && err != nil, c.blamed != "" && err == nil:
			t.Errorf("%s: %v", name, err)
		case c.blamed == "nobody" && (errors.As(err, &blame) || !errors.Is(err, errOrder)):
			t.Errorf("%s: %v", name, err)
		case c.blamed != "" && c.blamed != "nobody" && (!errors.As(err, &blame) || blame.Party != c.blamed):
			t.Errorf("%s: %v, want %s named", name, err, c.blamed)
		}
	}
}

// Declarations have a digest: another order of parties, or another word of one party, gives another
// digest.
func TestDeclaredHasAName(t *testing.T) {
	digest := func(order byte, rows int) [32]byte {
		d, err := readDeclared([]string{"guest", "host"}, [][]byte{declarationOf(rows, order), declarationOf(rows, order)})
		if err != nil {
			t.Fatal(err)
		}
		return d.Digest
	}
	name := digest(1, 40)
	if again := digest(1, 40); again != name || digest(2, 40) == name || digest(1, 41) == name {
		t.Error("the name does not follow from what was declared")
	}
	if _, err := (Declared{}).Rows(); !errors.Is(err, errUndeclared) {
		t.Errorf("rows before anybody has declared any: %v", err)
	}
}

func FuzzDecodeDeclaration(f *testing.F) {
	f.Add(declarationOf(3, 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := decodeDeclaration(b); err == nil && !bytes.Equal(d.encode(), b) {
			t.Errorf("%x is read as what is written %x", b, d.encode())
		}
	})
}

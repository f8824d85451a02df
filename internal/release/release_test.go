package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// table has rows p0, p1, ... and the named columns; value (i, c) is 10 i and the
// length of c's name.
func table(rows int, names ...string) *dataset.Set {
	m := linalg.New[float64](rows, len(names))
	set := &dataset.Set{Name: "people.csv", X: dataset.NewDense(m), Columns: names}
	for i := range rows {
		set.IDs = append(set.IDs, fmt.Sprint("p", i))
		for c, name := range names {
			m.Row(i)[c] = float64(10*i + len(name))
		}
	}
	return set
}

func products(set *dataset.Set, peers ...string) Release {
	return New(Products, "job", peers, "standard", set)
}

// What a release is called depends on what is let out, and on nothing else.
func TestID(t *testing.T) {
	set := table(4, "age", "income")
	base := products(set, "hub", "shop")
	same := map[string]Release{
		"rows in another order":    products(set.Subset([]int{2, 0, 3, 1}), "hub", "shop"),
		"columns in another order": products(set.SelectColumns([]int{1, 0}), "hub", "shop"),
		"peers in another order":   products(set, "shop", "hub"),
		"another job's name":       New(Products, "other", []string{"hub", "shop"}, "standard", set),
	}
	for name, r := range same {
		if r.ID() != base.ID() {
			t.Errorf("%s: another ID", name)
		}
	}
	changed := table(4, "age", "income")
	edited := linalg.New[float64](4, 2)
	linalg.Gather(edited, dataset.RowsOf(changed.X), 0)
	edited.Row(2)[1]++
	changed.X = dataset.NewDense(edited)
	for name, r := range map[string]Release{
		"a row less": products(table(3, "age", "income"), "hub", "shop"), "a column less": products(table(4, "age"), "hub", "shop"),
		"a peer less": products(set, "hub"), "another scale": New(Products, "job", []string{"hub", "shop"}, "none", set),
		"another kind": New(IDs, "job", []string{"hub", "shop"}, "standard", set), "another value": products(changed, "hub", "shop"),
	} {
		if r.ID() == base.ID() {
			t.Errorf("%s: the same ID", name)
		}
	}
}

func TestReveals(t *testing.T) {
	set := table(6, "age", "income", "score")
	base := products(set, "hub", "shop")
	edited := linalg.New[float64](6, 3)
	linalg.Gather(edited, dataset.RowsOf(set.X), 0)
	edited.Row(2)[1]++
	changed := *set
	changed.X = dataset.NewDense(edited)
	elsewhere := table(4, "age", "income", "score")
	elsewhere.IDs = []string{"q0", "q1", "q2", "q3"}
	for name, c := range map[string]struct {
		now  Release
		want []string
	}{
		"the same":            {base, nil},
		"other people":        {products(elsewhere, "hub"), nil},
		"another kind":        {New(IDs, "job", []string{"hub"}, "standard", set), nil},
		"a column less":       {products(table(6, "age", "income"), "hub", "shop"), []string{`column "score", in the earlier job and not in this one: the difference of the two matrices gives that column up to its sign`}},
		"a column more":       {products(table(6, "age", "income", "score", "wealth"), "hub", "shop"), []string{`column "wealth", in this job and not in the earlier one: the difference of the two matrices gives that column up to its sign`}},
		"two columns less":    {products(table(6, "age"), "hub", "shop"), []string{`columns "income", "score", in the earlier job and not in this one: the difference of the two matrices is the Gram matrix of these columns alone`}},
		"other values":        {products(&changed, "hub", "shop"), []string{`column "income", with other values than in the earlier job: the difference of the two matrices tells what has changed`}},
		"a peer more":         {products(set, "hub", "shop", "bank"), []string{"peers that did not take part then: bank; the difference of the two matrices is the Gram matrix of their columns alone"}},
		"another peer":        {products(set, "hub", "bank"), []string{"peers that did not take part then: bank; the difference of the two matrices is the Gram matrix of their columns alone", "peers that took part then and do not now: shop; the difference of the two matrices is the Gram matrix of their columns alone"}},
		"rows less":           {products(set.Subset([]int{0, 1, 2, 4}), "hub", "shop"), []string{"0 rows are in this job and were not, 2 were and are not: who compares both matrices learns which rows are the same people's, and who came or went"}},
		"scaled otherwise":    {New(Products, "job", []string{"hub", "shop"}, "none", set), []string{"columns are scaled by none and were by standard: both matrices together can tell ranges that one does not"}},
		"rows come, one goes": {products(table(8, "age", "income", "score").Subset([]int{1, 2, 3, 4, 5, 6, 7}), "hub", "shop"), []string{"2 rows are in this job and were not, 1 were and are not: who compares both matrices learns which rows are the same people's, and who came or went"}},
	} {
		if d := cmp.Diff(c.want, c.now.Reveals(base)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	ids := New(IDs, "job", []string{"shop"}, "", set)
	later := New(IDs, "job", []string{"bank"}, "", table(7, "age"))
	want := []string{
		"peers that did not take part then: bank; both intersections together tell whom they have and others have not",
		"peers that took part then and do not now: shop; both intersections together tell whom they have and others have not",
		"1 ids are in this set and were not, 0 were and are not: who compares both intersections learns which of its people came or went",
	}
	if d := cmp.Diff(want, later.Reveals(ids)); d != "" {
		t.Error(d)
	}
	if said := products(table(6, strings.Split("a b c d e f g h i j", " ")...), "hub", "shop").Reveals(products(set, "hub", "shop")); !strings.Contains(said[0], `"h", and 2 more, in`) {
		t.Errorf("many columns: %q", said)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(products(table(3, "age", "income"), "hub", "shop").Encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := Decode(b); err == nil && !bytes.Equal(r.Encode(), b) {
			t.Errorf("%x is read as what is written %x", b, r.Encode())
		}
	})
}

// More rows of one model tell nothing that its rows have not told; other columns do,
// and ids, which no model has.
func TestRevealsOfOneModel(t *testing.T) {
	of := func(r Release, model string) Release { r.Model = model; return r }
	first, more := products(table(4, "age", "income"), "hub"), products(table(6, "age", "income"), "hub")
	if said := of(more, "m").Reveals(of(first, "m")); said != nil {
		t.Errorf("more rows of a model reveal %q", said)
	}
	for name, said := range map[string][]string{
		"another model": of(more, "m").Reveals(of(first, "n")), "no model": more.Reveals(first),
		"a column less": of(products(table(6, "age"), "hub"), "m").Reveals(of(first, "m")),
		"ids":           of(New(IDs, "j", nil, "", table(6, "age")), "m").Reveals(of(New(IDs, "j", nil, "", table(4, "age")), "m")),
	} {
		if len(said) == 0 {
			t.Errorf("%s: reveals nothing", name)
		}
	}
	back, err := Decode(of(more, "m").Encode())
	if err != nil || back.Model != "m" || back.ID() == more.ID() {
		t.Errorf("comes back as of model %q, %v", back.Model, err)
	}
}

// Phases show distances, and are compared with phases only.
func TestRevealsOfPhases(t *testing.T) {
	phases := func(columns ...string) Release {
		return New(Phases, "job", []string{"hub", "shop"}, "standard", table(6, columns...))
	}
	base := phases("age", "income", "score")
	want := []string{`column "score", in the earlier job and not in this one: the difference of the two sets of distances gives that column up to its sign`}
	if d := cmp.Diff(want, phases("age", "income").Reveals(base)); d != "" {
		t.Error(d)
	}
	want = []string{`columns "income", "score", in the earlier job and not in this one: the difference of the two sets of distances is the set of distances of these columns alone`}
	if d := cmp.Diff(want, phases("age").Reveals(base)); d != "" {
		t.Error(d)
	}
	if said := phases("age").Reveals(products(table(6, "age", "income"), "hub", "shop")); said != nil {
		t.Errorf("phases beside products: %v", said)
	}
}

// A column's content is the SHA-256 of its values, however many are digested at
// a time.
func TestDigest(t *testing.T) {
	for _, room := range []int{1, 3, 100} {
		d := digest{hash: sha256.New(), room: room}
		var all []byte
		for i := range 7 {
			d.add(float64(i) - 2.5)
			all = binary.LittleEndian.AppendUint64(all, math.Float64bits(float64(i)-2.5))
		}
		if got, want := d.sum(), sha256.Sum256(all); got != want {
			t.Errorf("%d at a time: %x, want %x", room, got, want)
		}
	}
}

package secagg

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// slices is a vector in memory.
type inMemory [][]int64

func (v inMemory) Read(group, first int, dst []int64) { copy(dst, v[group][first:]) }

func mustLayout(t testing.TB, cohort int, groups ...Group) *Layout {
	t.Helper()
	l, err := NewLayout(cohort, groups)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Sums of packed vectors unpack to the sums of the vectors, however they are
// cut into pieces, also where every entry is at its bound.
func TestPackedSumsAreTheSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cohort := rapid.IntRange(1, 9).Draw(t, "cohort")
		groups := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Group {
			return Group{
				Entries: rapid.IntRange(1, 70).Draw(t, "entries"),
				Bound:   rapid.Int64Range(1, 1<<rapid.IntRange(1, 58).Draw(t, "bits")).Draw(t, "bound"),
				Signed:  rapid.Bool().Draw(t, "signed"),
			}
		}), 1, 4).Draw(t, "groups")
		l, err := NewLayout(cohort, groups)
		if err != nil {
			t.Fatal(err)
		}
		sum := make([]uint64, l.Words())
		want := make([][]int64, len(groups))
		n := rapid.IntRange(1, cohort).Draw(t, "clients")
		for range n {
			v := make(inMemory, len(groups))
			for g, group := range groups {
				low := int64(0)
				if group.Signed {
					low = -group.Bound
				}
				v[g] = rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(low, group.Bound), rapid.Just(group.Bound), rapid.Just(low)), group.Entries, group.Entries).Draw(t, "vector")
				if want[g] == nil {
					want[g] = make([]int64, group.Entries)
				}
				for i, x := range v[g] {
					want[g][i] += x
				}
			}
			for first := 0; first < l.Words(); {
				piece := make([]uint64, min(rapid.IntRange(1, 30).Draw(t, "piece"), l.Words()-first))
				if err := l.pack(v, first, piece); err != nil {
					t.Fatal(err)
				}
				for i, w := range piece {
					sum[first+i] += w
				}
				first += len(piece)
			}
		}
		if d := cmp.Diff(want, l.Sums(sum, n)); d != "" {
			t.Fatal(d)
		}
	})
}

// Pitfall 12: a bound that fits exactly, and one that does not.
func TestPitfall12TheModulusIsNeverTooSmall(t *testing.T) {
	const cohort = 1 << 10
	fits := Group{Entries: 1, Bound: (math.MaxInt64) / cohort}
	if _, err := NewLayout(cohort, []Group{fits}); err != nil {
		t.Error(err)
	}
	fits.Bound++
	if _, err := NewLayout(cohort, []Group{fits}); err == nil {
		t.Error("a sum beyond 63 bits is accepted")
	}
	// 15 clients with entries up to 1 need 4 bits, 16 need 5.
	for clients, want := range map[int]int{15: 1, 16: 2} {
		if l := mustLayout(t, clients, Group{Entries: 16, Bound: 1}); l.Words() != want {
			t.Errorf("16 entries of %d clients take %d words, want %d", clients, l.Words(), want)
		}
	}
	for _, x := range []int64{2, -1, math.MinInt64, math.MaxInt64} {
		l := mustLayout(t, 3, Group{Entries: 2, Bound: 1})
		var out *RangeError
		if err := l.pack(inMemory{{0, x}}, 0, make([]uint64, 1)); !errors.As(err, &out) || out.Entry != 1 || out.Value != x {
			t.Errorf("entry %d: error %v", x, err)
		}
	}
	for _, x := range []int64{4, -4, math.MinInt64, math.MaxInt64} {
		l := mustLayout(t, 3, Group{Entries: 1, Bound: 3, Signed: true})
		if err := l.pack(inMemory{{x}}, 0, make([]uint64, 1)); err == nil {
			t.Errorf("signed entry %d is accepted", x)
		}
	}
}

// The sizes of the recommender's vectors, as the specification computes them.
func TestWordsOfKnownVectors(t *testing.T) {
	for _, tt := range []struct{ clients, entries, words int }{
		{943, 1415403, 235901},
		{943, 628881, 104814},
		{6040, 6869071, 1717268},
	} {
		if l := mustLayout(t, tt.clients, Group{Entries: tt.entries, Bound: 1}); l.Words() != tt.words {
			t.Errorf("%d entries of %d clients take %d words, want %d", tt.entries, tt.clients, l.Words(), tt.words)
		}
	}
}

func TestLayoutRefuses(t *testing.T) {
	for name, try := range map[string]func() error{
		"nobody":   func() error { _, err := NewLayout(0, []Group{{Entries: 1, Bound: 1}}); return err },
		"no group": func() error { _, err := NewLayout(1, nil); return err },
		"no entry": func() error { _, err := NewLayout(1, []Group{{Bound: 1}}); return err },
		"no bound": func() error { _, err := NewLayout(1, []Group{{Entries: 1}}); return err },
		"too long": func() error { _, err := NewLayout(1, []Group{{Entries: MaxEntries + 1, Bound: 1}}); return err },
		"too long together": func() error {
			_, err := NewLayout(1, []Group{{Entries: MaxEntries, Bound: 1 << 40}, {Entries: 1, Bound: 1}})
			return err
		},
		"bound sign": func() error { _, err := NewLayout(1, []Group{{Entries: 1, Bound: -1}}); return err },
	} {
		if try() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestLongestLayout(t *testing.T) {
	if l := mustLayout(t, 1, Group{Entries: MaxEntries, Bound: 1 << 40}); l.Words() != MaxEntries || l.Entries() != MaxEntries {
		t.Errorf("%d entries in %d words", l.Entries(), l.Words())
	}
}

func TestLayoutRoundTrip(t *testing.T) {
	l := mustLayout(t, 12, Group{5, 7, true}, Group{9, 1, false})
	var w wire.Writer
	l.encodeTo(&w)
	r := wire.NewReader(w.Bytes())
	back := readLayout(r)
	if err := r.Close("layout"); err != nil || cmp.Diff(l.Groups, back.Groups) != "" || back.Words() != l.Words() || back.Cohort != 12 {
		t.Errorf("%+v comes back as %+v, %v", l, back, err)
	}
	for n := range w.Bytes() {
		r := wire.NewReader(w.Bytes()[:n])
		if back := readLayout(r); back != nil || !errors.Is(r.Err(), wire.ErrShort) {
			t.Errorf("%d of %d bytes are read as %+v, error %v", n, len(w.Bytes()), back, r.Err())
		}
	}
}

func TestIntsAreOneGroupOfTheAgreedLength(t *testing.T) {
	for name, tt := range map[string]struct {
		groups []Group
		list   Ints
		want   string
	}{
		"as agreed":     {[]Group{{Entries: 2, Bound: 5}}, Ints{4, 5}, ""},
		"too short":     {[]Group{{Entries: 2, Bound: 5}}, Ints{4}, "the vector has 1 entries, but 2 are agreed"},
		"too long":      {[]Group{{Entries: 2, Bound: 5}}, Ints{4, 5, 1}, "the vector has 3 entries, but 2 are agreed"},
		"two groups":    {[]Group{{Entries: 1, Bound: 5}, {Entries: 1, Bound: 5}}, Ints{4, 5}, "2 groups are agreed; implement Vector"},
		"out of bounds": {[]Group{{Entries: 2, Bound: 5}}, Ints{4, 6}, "6"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := NewParams(Spec{Minimum: 2, Epoch: "2026", Groups: tt.groups}, 3)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Hash(p, tt.list); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

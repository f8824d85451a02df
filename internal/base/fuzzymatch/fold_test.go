package fuzzymatch

import "testing"

func TestFold(t *testing.T) {
	for _, same := range [][]string{
		{"creatinine", "Creatinine", " CREATININE", "creat inine", "creatinine\u00a0", "\ufeffcreatinine", "crea\u200btinine"},
		{"größe", "gro\u0308ße", "GRÖßE"}, // composed and decomposed
		{"ος", "ΟΣ", "οσ"},
		{"ﬁbrin", "fibrin"}, // a ligature
		{"Ａ１", "a1"},        // full width
	} {
		for _, name := range same[1:] {
			if !Differs(same[0], name) {
				t.Errorf("%q and %q: folded %q and %q", same[0], name, Fold(same[0]), Fold(name))
			}
		}
	}
	for _, other := range [][2]string{{"age", "age"}, {"x1", "x2"}, {"a_b", "ab"}, {"a-b", "ab"}, {"é", "e"}, {"1.0", "10"}} {
		if Differs(other[0], other[1]) {
			t.Errorf("%q and %q are said to differ only by case, blanks or Unicode form", other[0], other[1])
		}
	}
}

func TestQuote(t *testing.T) {
	for _, c := range [][4]string{
		{"ILL", "ill", `"ILL"`, `"ill"`}, {"é", "e\u0301", `"\u00e9"`, `"e\u0301"`}, {"É", "é", `"É"`, `"é"`},
	} {
		if a, b := Quote(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%s and %s, want %s and %s", a, b, c[2], c[3])
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("Größe \u200b ΟΣ")
	f.Fuzz(func(t *testing.T, name string) {
		if once := Fold(name); Fold(once) != once {
			t.Errorf("%q folds to %q, which folds to %q", name, once, Fold(once))
		}
	})
}

package fuzzymatch

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold returns the common form of names that differ only by case, blanks or Unicode form. It is
// Unicode's compatibility form (NFKC) in lower case, without blanks and invisible characters.
func Fold(name string) string {
	unseen := func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}
	name = strings.Map(unseen, norm.NFKC.String(name))
	return norm.NFKC.String(strings.ToLower(strings.ToUpper(name))) // converting to upper case first makes σ and ς equal
}

// Differs reports whether two names differ only by case, blanks or Unicode form.
func Differs(a, b string) bool { return a != b && Fold(a) == Fold(b) }

// Clash returns the first two names that differ only by case, blanks or Unicode form. It returns
// false if there are none.
func Clash(names []string) (one, other string, found bool) {
	known := make(map[string]string, len(names))
	for _, name := range names {
		folded := Fold(name)
		if earlier, taken := known[folded]; taken && earlier != name {
			return earlier, name, true
		}
		known[folded] = name
	}
	return "", "", false
}

// Quote quotes two names so that their difference is visible. If they look alike, it shows the
// codes of their letters.
func Quote(a, b string) (string, string) {
	if norm.NFKC.String(a) == norm.NFKC.String(b) {
		return strconv.QuoteToASCII(a), strconv.QuoteToASCII(b)
	}
	return strconv.Quote(a), strconv.Quote(b)
}

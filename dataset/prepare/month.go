package prepare

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// monthNames maps the names of months to 1 to 12. The names are English, German, French, Spanish,
// Italian, Portuguese and Dutch, in lower case and without accents. No name means another month in
// another of these languages, so a format needs no language.
type monthNames map[string]int

// fullNames are the names that %B reads, a line for each month.
var fullNames = [12]string{
	"january januar janner jaenner janvier enero gennaio janeiro januari",
	"february februar feber fevrier febrero febbraio fevereiro februari",
	"march marz maerz mars marzo marco maart",
	"april avril abril aprile",
	"may mai mayo maggio maio mei",
	"june juni juin junio giugno junho",
	"july juli juillet julio luglio julho",
	"august aout agosto augustus",
	"september septembre septiembre setiembre settembre setembro",
	"october oktober octobre octubre ottobre outubro",
	"november novembre noviembre novembro",
	"december dezember decembre diciembre dicembre dezembro", //nolint:misspell // French
}

// shortNames are the abbreviations that %b reads, a line for each month. Some languages do not
// shorten short names, so that juin is both a name and an abbreviation.
var shortNames = [12]string{
	"jan janv ene gen",
	"feb fev fevr",
	"mar marz maerz mrz mars mrt",
	"apr avr abr",
	"may mai mag mei",
	"jun juni juin giu",
	"jul juli juil juill lug",
	"aug aou aout ago",
	"sep sept set",
	"oct okt out ott",
	"nov",
	"dec dez dic",
}

var fullMonths, shortMonths = monthsOf(fullNames), monthsOf(shortNames)

// monthsOf returns the names with their months.
func monthsOf(lines [12]string) monthNames {
	names := make(monthNames)
	for i, line := range lines {
		for name := range strings.FieldsSeq(line) {
			names[name] = i + 1
		}
	}
	return names
}

// longestMonth is the greatest length of a name in a cell, in bytes, with its accents.
const longestMonth = 16

// cut removes the longest name of a month at the beginning of a text. Case and accents do not matter.
func (names monthNames) cut(text string) (month int, rest string, ok bool) {
	word := text[:min(longestMonth, len(text)-len(strings.TrimLeftFunc(text, isOfName)))]
	for word != "" {
		if month, ok = names[foldMonth(word)]; ok {
			return month, text[len(word):], true
		}
		_, size := utf8.DecodeLastRuneInString(word)
		word = word[:len(word)-size]
	}
	return 0, text, false
}

func isOfName(r rune) bool { return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) }

// foldMonth returns a name in lower case and without accents.
func foldMonth(name string) string {
	name = strings.ToLower(name)
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return name
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(name))
}

package dataset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NumberForm describes how a text writes numbers. The zero value is a decimal point, without signs
// between thousands.
type NumberForm struct {
	Decimal   byte   // decimal sign, a point or a comma; 0 means a point
	Thousands string // separator of thousands: "" or one of [ThousandsSigns]
}

// ThousandsSigns lists the signs that can separate thousands. A blank also means U+00A0, U+2009 and
// U+202F, and an apostrophe also means U+2019.
func ThousandsSigns() []string { return []string{",", ".", " ", "'"} }

// commonForms lists the forms of numbers in common use. Of two forms that read the same text, the
// simpler one comes first.
var commonForms = []NumberForm{{'.', ""}, {',', ""}, {'.', ","}, {',', "."}, {'.', " "}, {',', " "}, {'.', "'"}, {',', "'"}}

// CommonForms lists the forms of numbers in common use.
func CommonForms() []NumberForm { return slices.Clone(commonForms) }

func (f NumberForm) decimal() byte {
	if f.Decimal == 0 {
		return '.'
	}
	return f.Decimal
}

// Parse reads a finite decimal number. Unlike [strconv.ParseFloat] it refuses hexadecimal digits, underscores,
// NaN and Inf. It also refuses signs between thousands that do not separate groups of three digits. It accepts
// the typographic minus sign.
func (f NumberForm) Parse(s string) (float64, error) {
	plain, ok := f.ungroup(strings.ReplaceAll(s, minusSign, "-"))
	if !ok {
		return 0, errNotNumber
	}
	if d := f.decimal(); d != '.' {
		if strings.IndexByte(plain, '.') >= 0 {
			return 0, errNotNumber
		}
		plain = strings.Replace(plain, string(rune(d)), ".", 1)
	}
	return parseNumber(plain)
}

// minusSign is the typographic minus sign. Readers accept it in place of a hyphen.
const minusSign = "\u2212"

// ungroup removes the signs between thousands. ok is false if a sign does not separate groups of
// three digits.
func (f NumberForm) ungroup(s string) (plain string, ok bool) {
	if f.Thousands == "" {
		return s, true
	}
	sign, digits := "", s
	if s != "" && strings.IndexByte("+-", s[0]) >= 0 {
		sign, digits = s[:1], s[1:]
	}
	rest := ""
	if end := strings.IndexAny(digits, string(rune(f.decimal()))+"eE"); end >= 0 {
		digits, rest = digits[:end], digits[end:]
	}
	groups := strings.Split(uniform.Replace(digits), uniform.Replace(f.Thousands))
	for i, group := range groups {
		if first := i == 0; len(groups) > 1 && (!first && len(group) != 3 || first && (group == "" || len(group) > 3) || !allDigits([]byte(group))) {
			return "", false
		}
	}
	return sign + strings.Join(groups, "") + rest, true
}

// uniform replaces the forms of blanks and apostrophes by one form.
var uniform = strings.NewReplacer("\u00a0", " ", "\u2009", " ", "\u202f", " ", "\u2019", "'")

// Keys returns the keys under "csv" in the catalogue that describe the form, with their values.
func (f NumberForm) Keys() string { return f.describe(", ", "decimal: %q", "thousands: %q") }

// Flags returns the command-line flags that describe the form.
func (f NumberForm) Flags() string { return f.describe(" ", "--decimal %s", "--thousands %s") }

func (f NumberForm) describe(separator, decimal, thousands string) string {
	var keys []string
	if f.decimal() != '.' || f.Thousands == "" {
		keys = append(keys, fmt.Sprintf(decimal, string(rune(f.decimal()))))
	}
	sign := f.Thousands
	if (sign == " " || sign == "'") && strings.HasPrefix(thousands, "--") {
		sign = `"` + sign + `"`
	}
	if sign != "" {
		keys = append(keys, fmt.Sprintf(thousands, sign))
	}
	return strings.Join(keys, separator)
}

// String describes the form in words, such as "a decimal comma".
func (f NumberForm) String() string {
	decimal := map[byte]string{'.': "a decimal point", ',': "a decimal comma"}[f.decimal()]
	thousands := map[string]string{",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}[f.Thousands]
	switch {
	case f.Thousands == "":
		return decimal
	case f.decimal() == '.':
		return thousands + " between thousands"
	}
	return decimal + " and " + thousands + " between thousands"
}

// limitSigns begin a cell that is a limit, such as the detection limit "<5".
var limitSigns = []string{"<", ">", "≤", "≥"}

// IsLimit reports whether a text is a limit, such as "<5", whose number has this form.
func (f NumberForm) IsLimit(s string) bool {
	for _, sign := range limitSigns {
		if rest, cut := strings.CutPrefix(s, sign); cut {
			_, err := f.Parse(strings.TrimSpace(strings.TrimPrefix(rest, "=")))
			return err == nil
		}
	}
	return false
}

// signsOfNumbers are the signs that belong to a number and to no unit after it. A minus after a number, as some
// programs write it, makes the number negative.
const signsOfNumbers = ".,+-\u2212"

// longestUnit is the largest length of a unit, in bytes.
const longestUnit = 16

// UnitOf returns the unit that stands beside a number, such as "%", and the text of the number. A
// unit before the number is a currency. A unit after the number is a currency, a sign such as "%",
// or a word after a blank. UnitOf returns "" for other texts.
func (f NumberForm) UnitOf(s string) (unit, number string) {
	number = strings.TrimRightFunc(withoutPower(s), isNoDigit)
	if rest := s[len(number):]; rest != "" {
		unit = strings.TrimSpace(rest)
		if first, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(first) && !isCurrency(unit) || unit != "" && strings.ContainsRune(signsOfNumbers, firstRune(unit)) {
			return "", ""
		}
	} else {
		bare := strings.TrimLeftFunc(s, func(r rune) bool { return isNoDigit(r) && !strings.ContainsRune("+-.,", r) })
		if unit, number = strings.TrimSpace(s[:len(s)-len(bare)]), bare; !isCurrency(unit) {
			return "", ""
		}
	}
	if _, err := f.Parse(number); err != nil || unit == "" || len(unit) > longestUnit {
		return "", ""
	}
	return unit, number
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// withoutPower returns a text without the digit of a square or cubic unit at its end, such as kg/m2.
func withoutPower(s string) string {
	bare := strings.TrimRight(s, "23")
	if last, _ := utf8.DecodeLastRuneInString(bare); len(bare) == len(s)-1 && unicode.IsLetter(last) {
		return bare
	}
	return s
}

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// isCurrency reports whether a text is the sign or the code of a common currency.
func isCurrency(s string) bool {
	if slices.Contains([]string{"EUR", "USD", "GBP", "CHF", "JPY", "CNY", "kr", "R$", "US$"}, s) {
		return true
	}
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && unicode.Is(unicode.Sc, r)
}

// Advice returns the change by which a cell that is not a number in this form can be read: a key in the
// catalogue, or a minus before the number. It returns "" if neither would help.
func (f NumberForm) Advice(cell string) string {
	if f.IsLimit(cell) {
		return fmt.Sprintf("give the column values: {%q: NUMBER} in the catalogue, or list the cell under \"csv: {missing: [...]}\"", cell)
	}
	if unit, _ := f.UnitOf(cell); unit != "" {
		return fmt.Sprintf("give the column unit: %q in the catalogue", unit)
	}
	if bare, after := strings.CutSuffix(uniform.Replace(cell), "-"); after {
		if _, err := f.Parse(bare); err == nil {
			return "write the minus before the number, as in -" + bare
		}
	}
	var keys []string
	for _, other := range commonForms {
		if !strings.Contains(uniform.Replace(cell), other.Thousands) {
			continue
		}
		if _, err := other.Parse(cell); err == nil {
			keys = append(keys, "csv: {"+other.Keys()+"}")
		}
	}
	if keys == nil {
		return ""
	}
	return "write " + strings.Join(keys, " or ") + " in the catalogue"
}

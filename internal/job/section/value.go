package section

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// maxText is the greatest length of a word, name or path in a job file, in bytes.
const maxText = 1024

// scalar returns the text of n, which must be a single value that is not empty.
func scalar(key string, n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode || isNull(n) || n.Value == "":
		return "", At(n, "%s is %s; give one value or leave the key out", key, describeEmpty(n))
	case len(n.Value) > maxText:
		return "", At(n, "%s is %d bytes long; at most %d are allowed", key, len(n.Value), maxText)
	case strings.ContainsFunc(n.Value, unprintable):
		return "", At(n, "%s is %s, which contains a character that does not print; remove this character", key, Quote(n.Value))
	}
	return n.Value, nil
}

func unprintable(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

func describeEmpty(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return "empty"
	}
	return Describe(n)
}

// Text reads and writes a free text, such as the name of a column or a path.
type Text struct{ Dst *string }

func (v Text) Decode(key string, n *yaml.Node) (err error) {
	*v.Dst, err = scalar(key, n)
	return err
}

func (v Text) Encode() *yaml.Node {
	if *v.Dst == "" {
		return nil
	}
	return Word(*v.Dst)
}

func (Text) Form() string { return "a text" }

// Fixed reads and writes a key whose value must be the given word.
type Fixed string

func (v Fixed) Decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Value != string(v) {
		return At(n, "%s is %s; this version reads %s only", key, Describe(n), string(v))
	}
	return nil
}

func (v Fixed) Encode() *yaml.Node { return Word(string(v)) }

func (v Fixed) Form() string { return string(v) }

// DNSLabel reads and writes a name that is valid in file names, message subjects and host names.
type DNSLabel struct{ Dst *string }

var dnsForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (v DNSLabel) Decode(key string, n *yaml.Node) error {
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	if !dnsForm.MatchString(s) {
		return At(n, "%s %s is not allowed; use at most 63 lower-case letters, digits and inner dashes", key, Quote(s))
	}
	*v.Dst = s
	return nil
}

func (v DNSLabel) Encode() *yaml.Node { return Word(*v.Dst) }

func (DNSLabel) Form() string { return "up to 63 lower-case letters, digits and inner dashes" }

// Number reads and writes a finite real number. It does not write zero.
type Number struct{ Dst *float64 }

func (v Number) Decode(key string, n *yaml.Node) error {
	s, err := plainScalar(key, n)
	if err != nil {
		return err
	}
	x, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) {
		return At(n, "%s is %s, which is too large; write a number of at most 1.7e308 in magnitude", key, Quote(s))
	}
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(s, "xX_") {
		return At(n, "%s is %s, not a number; write one such as 0.5", key, Quote(s))
	}
	*v.Dst = x
	return nil
}

func (v Number) Encode() *yaml.Node {
	if *v.Dst == 0 {
		return nil
	}
	return Bare(strconv.FormatFloat(*v.Dst, 'g', -1, 64))
}

func (Number) Form() string { return "a number" }

// AlsoZero is a [Number] that also writes a zero to the file, if the number has an effect. Its
// default is not zero.
type AlsoZero struct {
	Number
	Counts func() bool // reports whether the number has an effect; nil if it always has
}

func (v AlsoZero) Encode() *yaml.Node {
	if *v.Dst == 0 && (v.Counts == nil || v.Counts()) {
		return Bare("0")
	}
	return v.Number.Encode()
}

// Whole reads and writes a whole number of 32 bits. It does not write zero.
type Whole struct{ Dst *int }

func (v Whole) Decode(key string, n *yaml.Node) error {
	s, err := plainScalar(key, n)
	if err != nil {
		return err
	}
	i, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return At(n, "%s is %s, not a whole number; write one such as 3", key, Quote(s))
	}
	*v.Dst = int(i)
	return nil
}

func (v Whole) Encode() *yaml.Node {
	if *v.Dst == 0 {
		return nil
	}
	return Bare(strconv.Itoa(*v.Dst))
}

func (Whole) Form() string { return "a whole number" }

// Natural reads and writes a whole number of 64 bits. It writes zero too, because zero is a valid
// seed.
type Natural struct{ Dst *uint64 }

func (v Natural) Decode(key string, n *yaml.Node) error {
	s, err := plainScalar(key, n)
	if err != nil {
		return err
	}
	if *v.Dst, err = strconv.ParseUint(s, 10, 64); err != nil {
		return At(n, "%s is %s; write a whole number from 0 to 18446744073709551615", key, Quote(s))
	}
	return nil
}

func (v Natural) Encode() *yaml.Node { return Bare(strconv.FormatUint(*v.Dst, 10)) }

func (Natural) Form() string { return "a whole number from 0 to 18446744073709551615" }

// plainScalar returns the text of a single number. It refuses lists, which make a grid elsewhere,
// and quotes, which make text.
func plainScalar(key string, n *yaml.Node) (string, error) {
	if n.Kind == yaml.SequenceNode {
		return "", At(n, "%s is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number", key)
	}
	s, err := scalar(key, n)
	if err == nil && n.Style != 0 {
		err = At(n, "%s is the text %s; write the number without quotes", key, Quote(s))
	}
	return s, err
}

// Yes reads and writes true or false. It does not write false.
type Yes struct{ Dst *bool }

func (v Yes) Decode(key string, n *yaml.Node) error {
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	if s != "true" && s != "false" {
		return At(n, "%s is %s; write true or false", key, Quote(s))
	}
	*v.Dst = s == "true"
	return nil
}

func (v Yes) Encode() *yaml.Node {
	if !*v.Dst {
		return nil
	}
	return Bare("true")
}

func (Yes) Form() string { return "true or false" }

// Duration reads and writes a positive duration such as 90s, 10m or 2h.
type Duration struct{ Dst *time.Duration }

// maxDuration is the longest allowed duration. It is far above any sensible wait and far below
// overflow.
const maxDuration = 30 * 24 * time.Hour

func (v Duration) Decode(key string, n *yaml.Node) error {
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > maxDuration {
		return At(n, "%s is %s; write a time above zero and up to 720h, such as 90s or 10m", key, Quote(s))
	}
	*v.Dst = d
	return nil
}

func (v Duration) Encode() *yaml.Node {
	if *v.Dst == 0 { // the file has no such key, since a duration is above zero
		return nil
	}
	return Word(v.Dst.String())
}

func (Duration) Form() string { return "a time such as 90s, 10m or 2h" }

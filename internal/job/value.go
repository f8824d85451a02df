package job

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// maxText bounds every word, name and path of a job file, in bytes.
const maxText = 1024

// scalar returns the text of n, which must be one value: no map, no list, and
// something.
func scalar(key string, n *yaml.Node) (string, error) {
	switch {
	case n.Kind != yaml.ScalarNode || isNull(n) || n.Value == "":
		return "", at(n, "%s is %s; give one value or leave the key out", key, describeEmpty(n))
	case len(n.Value) > maxText:
		return "", at(n, "%s is %d bytes long; at most %d are allowed", key, len(n.Value), maxText)
	case strings.ContainsFunc(n.Value, unprintable):
		return "", at(n, "%s is %s, with a character in it that does not print; remove that", key, quote(n.Value))
	}
	return n.Value, nil
}

func unprintable(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }

func describeEmpty(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return "empty"
	}
	return describe(n)
}

// text is a free word: a column, a path.
type text struct{ dst *string }

func (v text) decode(key string, n *yaml.Node) (err error) {
	*v.dst, err = scalar(key, n)
	return err
}

func (v text) encode() *yaml.Node {
	if *v.dst == "" {
		return nil
	}
	return textNode(*v.dst)
}

// fixed is a word that must be the one given.
type fixed string

func (v fixed) decode(key string, n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Value != string(v) {
		return at(n, "%s is %s; this version reads %s only", key, describe(n), string(v))
	}
	return nil
}

func (v fixed) encode() *yaml.Node { return textNode(string(v)) }

// dnsLabel is a name that fits file names, message subjects and host names.
type dnsLabel struct{ dst *string }

var dnsForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func (v dnsLabel) decode(key string, n *yaml.Node) error {
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	if !dnsForm.MatchString(s) {
		return at(n, "%s %s is not allowed; use at most 63 lower-case letters, digits and inner dashes", key, quote(s))
	}
	*v.dst = s
	return nil
}

func (v dnsLabel) encode() *yaml.Node { return textNode(*v.dst) }

// number is a finite real number; zero is left out.
type number struct{ dst *float64 }

func (v number) decode(key string, n *yaml.Node) error {
	s, err := plainScalar(key, n)
	if err != nil {
		return err
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || strings.ContainsAny(s, "xX_") {
		return at(n, "%s is %s, not a number; write one such as 0.5", key, quote(s))
	}
	*v.dst = x
	return nil
}

func (v number) encode() *yaml.Node {
	if *v.dst == 0 {
		return nil
	}
	return bareNode(strconv.FormatFloat(*v.dst, 'g', -1, 64))
}

// alsoZero is a number whose default is not zero: where it counts, zero is
// written too.
type alsoZero struct {
	number
	counts func() bool
}

func (v alsoZero) encode() *yaml.Node {
	if *v.dst == 0 && v.counts() {
		return bareNode("0")
	}
	return v.number.encode()
}

// whole is a whole number that fits 32 bits; zero is left out.
type whole struct{ dst *int }

func (v whole) decode(key string, n *yaml.Node) error {
	s, err := plainScalar(key, n)
	if err != nil {
		return err
	}
	i, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return at(n, "%s is %s, not a whole number; write one such as 3", key, quote(s))
	}
	*v.dst = int(i)
	return nil
}

func (v whole) encode() *yaml.Node {
	if *v.dst == 0 {
		return nil
	}
	return bareNode(strconv.Itoa(*v.dst))
}

// seed is always written, because zero is a seed too.
type seed struct{ dst *uint64 }

func (v seed) decode(key string, n *yaml.Node) error {
	s, err := plainScalar(key, n)
	if err != nil {
		return err
	}
	if *v.dst, err = strconv.ParseUint(s, 10, 64); err != nil {
		return at(n, "%s is %s; write a whole number from 0 to 18446744073709551615", key, quote(s))
	}
	return nil
}

func (v seed) encode() *yaml.Node { return bareNode(strconv.FormatUint(*v.dst, 10)) }

// plainScalar is scalar for numbers: a list is a grid elsewhere, quotes make
// text.
func plainScalar(key string, n *yaml.Node) (string, error) {
	if n.Kind == yaml.SequenceNode {
		return "", at(n, "%s is a list; only numbers that shape the model, such as gamma and C, make a grid, so give one number", key)
	}
	s, err := scalar(key, n)
	if err == nil && n.Style != 0 {
		err = at(n, "%s is the text %s; write the number without quotes", key, quote(s))
	}
	return s, err
}

// yes is true or false; false is left out.
type yes struct{ dst *bool }

func (v yes) decode(key string, n *yaml.Node) error {
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	if s != "true" && s != "false" {
		return at(n, "%s is %s; write true or false", key, quote(s))
	}
	*v.dst = s == "true"
	return nil
}

func (v yes) encode() *yaml.Node {
	if !*v.dst {
		return nil
	}
	return bareNode("true")
}

func bareNode(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// duration is a positive time such as 90s, 10m or 2h.
type duration struct{ dst *time.Duration }

// maxDuration is far above any sensible wait and far below overflow.
const maxDuration = 30 * 24 * time.Hour

func (v duration) decode(key string, n *yaml.Node) error {
	s, err := scalar(key, n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > maxDuration {
		return at(n, "%s is %s; write a time above zero and up to 720h, such as 90s or 10m", key, quote(s))
	}
	*v.dst = d
	return nil
}

func (v duration) encode() *yaml.Node { return textNode(v.dst.String()) }

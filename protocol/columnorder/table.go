package columnorder

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Name and Version appear in the descriptor of every session. The protocol has no parameters.
const (
	Name           = "heading"
	Version uint16 = 1
)

// Every table has these limits.
const (
	MaxNamed     = 1 << 20 // largest number of columns with names
	MaxNumbered  = 1 << 24 // largest number of columns without names
	MaxNameBytes = 1 << 10 // largest length of the name of a column or a class
	MaxClasses   = 1 << 12

	maxClassesBytes = 256 << 10 // largest length of the names of all classes together
)

// Table describes the columns and classes of a party's table.
type Table struct {
	Columns []string // names in the table's order; nil if the columns have only numbers
	Width   int      // number of columns
	Classes []string // distinct class names; nil if classes are not compared
}

// validate returns an error if this protocol cannot process the table.
func (t Table) validate() error {
	switch {
	case t.Columns != nil && len(t.Columns) != t.Width:
		return fmt.Errorf("columnorder: the table has %d names for %d columns", len(t.Columns), t.Width)
	case t.Columns != nil && t.Width > MaxNamed:
		return fmt.Errorf("columnorder: the table has %d columns with names; at most %d are allowed", t.Width, MaxNamed)
	case t.Width < 1 || t.Width > MaxNumbered:
		return fmt.Errorf("columnorder: the table has %d columns; 1 to %d are allowed", t.Width, MaxNumbered)
	}
	if err := distinct("column", t.Columns); err != nil {
		return err
	}
	return checkClasses(t.Classes)
}

func distinct(what string, names []string) error {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		switch {
		case len(name) > MaxNameBytes:
			return fmt.Errorf("columnorder: a %s has a name of %d bytes; at most %d are allowed; shorten the name that begins with %.40q", what, len(name), MaxNameBytes, name)
		case seen[name]:
			return fmt.Errorf("columnorder: two of the table's %s names are %q; rename one", what, name)
		}
		seen[name] = true
	}
	return nil
}

// checkClasses returns an error if the class names do not fit in one message, or if one of
// them is too long or occurs twice.
func checkClasses(classes []string) error {
	if len(classes) > MaxClasses {
		return fmt.Errorf("columnorder: the table has %d classes; at most %d are allowed", len(classes), MaxClasses)
	}
	bytes := 0
	for _, class := range classes {
		bytes += 2 + len(class)
	}
	if bytes > maxClassesBytes {
		return fmt.Errorf("columnorder: the names of the %d classes have %d bytes together; at most %d are allowed; shorten them", len(classes), bytes, maxClassesBytes)
	}
	return distinct("class", classes)
}

// Hash returns the SHA-256 of t's encoding, for [protocol.Start].
func (t Table) Hash() [sha256.Size]byte {
	h := sha256.New()
	one := func(add func(*wire.Writer)) {
		var w wire.Writer
		add(&w)
		h.Write(w.Bytes()) // a hash never returns an error
	}
	one(func(w *wire.Writer) {
		w.String("mercer/v1/heading/table")
		w.Uint32(uint32(t.Width))
		w.Uint32(uint32(len(t.Columns)))
		w.Uint32(uint32(len(t.Classes)))
	})
	for _, list := range [][]string{t.Columns, t.Classes} {
		for _, name := range list {
			one(func(w *wire.Writer) { w.Bytes32([]byte(name)) })
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

const (
	keyBytes    = 32
	exactBytes  = 16
	foldedBytes = 8
)

type (
	exact  [exactBytes]byte
	folded [foldedBytes]byte
)

// digester computes the keyed digests of names.
type digester struct{ mac hash.Hash }

func newDigester(key [keyBytes]byte) digester { return digester{hmac.New(sha256.New, key[:])} }

func (d digester) sum(label, name string) []byte {
	d.mac.Reset()
	d.mac.Write([]byte(label)) // a hash never returns an error
	d.mac.Write([]byte(name))
	return d.mac.Sum(nil)
}

func (d digester) exact(name string) exact { return exact(d.sum("exact", name)[:exactBytes]) }

// folded returns a digest that is equal for names that differ only by case, blanks or Unicode
// form.
func (d digester) folded(name string) folded {
	return folded(d.sum("folded", fuzzymatch.Fold(name))[:foldedBytes])
}

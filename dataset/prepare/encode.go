package prepare

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// encodingMagic begins every encoded preparation.
const encodingMagic = "mercer/v1/preparation"

// MaxWord is the largest length of a category or of another word in a schema, in bytes.
const MaxWord = 1 << 10

// Encode returns the canonical encoding of the preparation. Equal preparations have equal
// encodings.
func (p *Preparation) Encode() []byte {
	var w wire.Writer
	w.String(encodingMagic)
	w.Uint32(uint32(len(p.schema)))
	for j, c := range p.schema {
		c.encode(&w)
		w.Float64(p.columns[j].fill)
		w.Strings(p.columns[j].categories)
	}
	w.Uint32(uint32(len(p.Offset)))
	w.Float64s(p.Offset)
	w.Float64s(p.Factor)
	return w.Bytes()
}

// Hash returns the SHA-256 of the encoding, which identifies the preparation.
func (p *Preparation) Hash() [sha256.Size]byte { return sha256.Sum256(p.Encode()) }

func (c *Column) encode(w *wire.Writer) {
	for _, word := range c.texts() {
		w.String(*word)
	}
	w.Float64(c.Range[0])
	w.Float64(c.Range[1])
	w.Bool(c.Indicator)
	w.Bool(c.Agree)
	w.Bool(c.Ordered)
	for _, list := range c.lists() {
		w.Strings(*list)
	}
}

// texts returns pointers to the column's words, in the order of the encoding.
func (c *Column) texts() []*string {
	return []*string{
		&c.Name, (*string)(&c.Type), &c.Unit, (*string)(&c.Outside), (*string)(&c.Missing), &c.Value, (*string)(&c.Transform), (*string)(&c.Unknown),
		&c.Format, (*string)(&c.As), &c.Since,
	}
}

// lists returns pointers to the column's lists, in the order of the encoding.
func (c *Column) lists() []*[]string { return []*[]string{&c.Categories, &c.True, &c.False} }

// Decode decodes the output of Encode.
func Decode(b []byte) (*Preparation, error) {
	r := wire.NewReader(b)
	r.Magic(len(encodingMagic), encodingMagic, "prepare: %q is not a preparation")
	p := &Preparation{schema: make(Schema, r.Count(MaxColumns, 1))}
	p.columns = make([]fitted, len(p.schema))
	for j := range p.schema {
		if r.Err() != nil {
			break
		}
		p.schema[j].decode(r)
		p.columns[j] = fitted{r.Float64(), r.Strings(MaxCategories*MaxAgreed, MaxWord)}
	}
	if n := r.Count(MaxColumns*MaxCategories, 16); n > 0 {
		p.Offset, p.Factor = make([]float64, n), make([]float64, n)
		r.Float64s(p.Offset)
		r.Float64s(p.Factor)
	}
	if err := r.Close("prepare: preparation"); err != nil {
		return nil, err
	}
	return p, p.check()
}

func (c *Column) decode(r *wire.Reader) {
	for _, word := range c.texts() {
		*word = r.String(MaxWord)
	}
	c.Range = [2]float64{r.Float64(), r.Float64()}
	c.Indicator, c.Agree, c.Ordered = r.Bool(), r.Bool(), r.Bool()
	for _, list := range c.lists() {
		*list = r.Strings(MaxCategories, MaxWord)
	}
}

// check refuses a preparation that fitting cannot produce.
func (p *Preparation) check() error {
	for j := range p.schema {
		c := p.schema[j]
		if err := c.Check(); err != nil {
			return fmt.Errorf("prepare: column %q: %w", c.Name, err)
		}
		if !c.sameEncoding(p.schema[j]) {
			return fmt.Errorf("prepare: the encoding of column %q lacks a default value", c.Name)
		}
		if err := c.checkFitted(p.columns[j]); err != nil {
			return fmt.Errorf("prepare: column %q %w", c.Name, err)
		}
	}
	if err := p.schema.Check(); err != nil {
		return err
	}
	if err := p.schema.checkDistinct(p.categories()); err != nil {
		return err
	}
	return p.checkScales()
}

// sameEncoding reports whether two descriptions have the same encoding.
func (c *Column) sameEncoding(other Column) bool {
	var a, b wire.Writer
	c.encode(&a)
	other.encode(&b)
	return bytes.Equal(a.Bytes(), b.Bytes())
}

// categories returns the categories of each column.
func (p *Preparation) categories() [][]string {
	all := make([][]string, len(p.columns))
	for j := range p.columns {
		all[j] = p.columns[j].categories
	}
	return all
}

// checkFitted refuses fitted values that no rows of the column can produce.
func (c *Column) checkFitted(fit fitted) error {
	if !c.Agree && !slices.Equal(fit.categories, c.Categories) {
		return errors.New("has other categories than its schema")
	}
	if c.Agree {
		c.Categories = fit.categories
		if err := c.checkCategories(); err != nil || len(fit.categories) > MaxUnited || !slices.IsSorted(fit.categories) {
			return fmt.Errorf("has %d categories that parties cannot have agreed on", len(fit.categories))
		}
	}
	fills := c.filled() && c.Missing != FillCategory
	switch {
	case fills == isGap(fit.fill), isGap(fit.fill) && math.Float64bits(fit.fill) != math.Float64bits(gap):
		return fmt.Errorf("has the fill %v, which does not fit \"missing: %s\"", fit.fill, c.Missing)
	case !fills:
		return nil
	case c.Type == Category && !isPlace(fit.fill, len(fit.categories)), c.Type == Boolean && !isPlace(fit.fill, 2):
		return fmt.Errorf("is filled with category %v, but has only %d categories", fit.fill, len(fit.categories))
	case c.Type == Category || c.Type == Boolean:
		return nil
	}
	if !isFinite(fit.fill) {
		return errors.New("is filled with a value that is not a finite number")
	}
	_, err := c.checkNumber(fit.fill)
	return err
}

// isPlace reports whether a code is a whole number from 0 to n-1.
func isPlace(v float64, n int) bool { return v >= 0 && v < float64(n) && v == math.Trunc(v) }

func (p *Preparation) checkScales() error {
	if p.Offset != nil && len(p.Offset) != p.Width() {
		return errors.New("prepare: the scaling does not have one number for each prepared column")
	}
	for _, v := range slices.Concat(p.Offset, p.Factor) {
		if !isFinite(v) {
			return errors.New("prepare: the scaling has a value that is not a finite number")
		}
	}
	return nil
}

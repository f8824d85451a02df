package prepare

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// encodingMagic begins every encoded preparation.
const encodingMagic = "mercer/v1/preparation"

// maxWord bounds the words of a schema and the categories, in bytes.
const maxWord = 1 << 10

// Encode returns the canonical encoding: equal preparations have equal encodings.
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

// Hash names the preparation.
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

// texts lists the column's words in the order of the encoding.
func (c *Column) texts() []*string {
	return []*string{
		&c.Name, (*string)(&c.Type), &c.Unit, (*string)(&c.Outside), (*string)(&c.Missing), &c.Value, (*string)(&c.Transform), (*string)(&c.Unknown),
		&c.Format, (*string)(&c.As), &c.Since,
	}
}

// lists lists the column's lists in the order of the encoding.
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
		p.columns[j] = fitted{r.Float64(), r.Strings(MaxCategories*MaxAgreed, maxWord)}
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
		*word = r.String(maxWord)
	}
	c.Range = [2]float64{r.Float64(), r.Float64()}
	c.Indicator, c.Agree, c.Ordered = r.Bool(), r.Bool(), r.Bool()
	for _, list := range c.lists() {
		*list = r.Strings(MaxCategories, maxWord)
	}
}

// check refuses a preparation that nobody fits.
func (p *Preparation) check() error {
	for j := range p.schema {
		c, fit := p.schema[j], p.columns[j]
		if err := c.Check(); err != nil {
			return fmt.Errorf("prepare: column %q: %w", c.Name, err)
		}
		if !isGap(fit.fill) && c.Type == Category && (fit.fill < 0 || int(fit.fill) >= len(fit.categories) || fit.fill != float64(int(fit.fill))) {
			return fmt.Errorf("prepare: column %q is filled with category %v of %d", c.Name, fit.fill, len(fit.categories))
		}
	}
	if p.Offset != nil && len(p.Offset) != p.Width() {
		return errors.New("prepare: a scaling of another number of columns")
	}
	return p.schema.Check()
}

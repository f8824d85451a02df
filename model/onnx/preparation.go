package onnx

import (
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset/prepare"
)

// prepared adds one input for each column of the preparation's schema, and returns the prepared
// numbers: rows x width. A cell that Mercer refuses becomes NaN.
func (g *graph) prepared(p *prepare.Preparation) value {
	var parts []value
	for j, c := range p.Schema() {
		fill, categories := p.Fitted(j)
		cell := column{graph: g, Column: c, fill: fill, categories: categories}
		switch c.Type {
		case prepare.Category:
			parts = append(parts, cell.category()...)
		case prepare.Boolean:
			parts = append(parts, cell.boolean()...)
		default:
			parts = append(parts, cell.numeric()...)
		}
	}
	return g.with("axis", 1, "Concat", parts...)
}

// column is one column of a table on its way to prepared numbers.
type column struct {
	*graph
	prepare.Column
	fill       float64
	categories []string
}

// filled replaces gaps by the fill, or by NaN if gaps are not filled, and appends the column that
// marks gaps if the schema asks for it.
func (c *column) filled(v, gap value) []value {
	v = c.do("Where", gap, c.number(c.fill), v)
	if !c.Indicator {
		return []value{c.transformed(v)}
	}
	return []value{c.transformed(v), c.doubles(gap)}
}

// numeric returns the prepared columns of a number or a date.
func (c *column) numeric() []value {
	note := "a number; NaN is a gap"
	switch {
	case c.Type == prepare.Date && c.As == prepare.Days:
		note = "a date as days since " + c.Since + "; NaN is a gap"
	case c.Type == prepare.Date:
		note = "the " + string(c.As) + " of a date; NaN is a gap"
	case c.Unit != "":
		note = "a number in " + c.Unit + "; NaN is a gap"
	}
	x := c.input(c.Name, float64s, 1, note)
	refused := c.do("Less", c.number(1), c.number(0))
	if c.Ranged() {
		out := c.do("Or", c.do("Less", x, c.number(c.Range[0])), c.do("Greater", x, c.number(c.Range[1])))
		switch c.Outside {
		case prepare.OutsideMissing:
			x = c.do("Where", out, c.number(math.NaN()), x)
		case prepare.OutsideClip:
			x = c.between(x, c.Range[0], c.Range[1])
		default:
			refused = out
		}
	}
	parts := c.filled(x, c.do("IsNaN", x))
	parts[0] = c.do("Where", refused, c.number(math.NaN()), parts[0])
	return parts
}

// transformed applies the column's transform.
func (c *column) transformed(v value) value {
	switch c.Transform {
	case prepare.Log:
		return c.log(v)
	case prepare.Log1p:
		return c.log1p(v)
	case prepare.Sqrt:
		return c.do("Sqrt", v)
	}
	return v
}

// log returns the logarithm, and NaN for 0, which Mercer refuses like a negative number.
func (g *graph) log(v value) value {
	return g.do("Log", g.do("Where", g.do("Greater", v, g.number(0)), v, g.number(math.NaN())))
}

// log1p returns log(1 + v) with a correction for the rounding of 1 + v, as package prepare does.
func (g *graph) log1p(v value) value {
	u := g.plus(v, 1)
	lost := g.do("Sub", u, g.number(1))
	none := g.do("Equal", lost, g.number(0))
	corrected := g.do("Mul", g.log(u), g.do("Div", v, g.do("Where", none, g.number(1), lost)))
	return g.do("Where", none, v, corrected)
}

// matches returns a number for each word: 1 where the cell is that word, else 0.
func (c *column) matches(x value, words []string) value {
	return c.doubles(c.do("Equal", x, c.words(words)))
}

// boolean returns the prepared columns of a boolean.
func (c *column) boolean() []value {
	yes, no := spellings(c.True), spellings(c.False)
	x := c.input(c.Name, texts, 1, "one of "+strings.Join(slices.Concat(yes, no), ", ")+"; \"\" is a gap")
	is, isNot := c.sumRows(c.matches(x, yes)), c.sumRows(c.matches(x, no))
	known := c.do("Greater", c.do("Add", is, isNot), c.number(0))
	v := c.do("Where", known, is, c.number(math.NaN()))
	return c.filled(v, c.do("Equal", x, c.words([]string{""})))
}

// spellings returns each word as it is, in lower case, in upper case and with a capital, because Mercer
// ignores the case of a boolean's words.
func spellings(words []string) []string {
	var all []string
	for _, word := range words {
		for _, one := range []string{word, strings.ToLower(word), strings.ToUpper(word), capital(word)} {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return all
}

func capital(word string) string {
	letters := []rune(strings.ToLower(word))
	if len(letters) == 0 {
		return word
	}
	return strings.ToUpper(string(letters[:1])) + string(letters[1:])
}

// category returns the prepared columns of a category.
func (c *column) category() []value {
	x := c.input(c.Name, texts, 1, "a category; \"\" is a gap")
	gap := c.do("Equal", x, c.words([]string{""}))
	hot := c.matches(x, c.categories)
	known := c.do("Or", gap, c.do("Greater", c.sumRows(hot), c.number(0)))
	if c.Ordered {
		place := c.sumRows(c.do("Mul", hot, c.row(places(len(c.categories)))))
		return c.filled(c.do("Where", known, place, c.number(c.unknown())), gap)
	}
	parts := []value{c.do("Where", gap, c.filling(), c.do("Where", known, hot, c.number(c.unknown())))}
	if c.Unknown == prepare.UnknownOther {
		parts = append(parts, c.do("Sub", c.number(1), c.doubles(known)))
	}
	if c.Missing == prepare.FillCategory || c.Indicator {
		parts = append(parts, c.doubles(gap))
	}
	return parts
}

// unknown returns the number that stands for a word that is no category.
func (c *column) unknown() float64 {
	switch {
	case c.Unknown == prepare.UnknownError:
		return math.NaN()
	case c.Ordered:
		return -1
	}
	return 0
}

// filling returns the row of a gap: zeros where gaps are a category of their own, a one at the fill's
// place, or NaN if gaps are refused.
func (c *column) filling() value {
	row := make([]float64, len(c.categories))
	switch {
	case c.Missing == prepare.FillCategory:
	case math.IsNaN(c.fill):
		for i := range row {
			row[i] = math.NaN()
		}
	default:
		row[int(c.fill)] = 1
	}
	return c.row(row)
}

// places returns 0, 1, ..., n-1.
func places(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i)
	}
	return list
}

package prepare

import (
	"cmp"
	"math"
	"slices"
)

// ColumnSummary describes the cells of one column of a frame as they were read: in the schema's
// units and words.
type ColumnSummary struct {
	Column
	Gaps int // number of cells without a value
	// Least, Greatest and Mean summarise numbers, and the numbers taken from dates. They are NaN if
	// no cell has a value.
	Least, Greatest, Mean float64
	// Words counts the cells of each word of a category or a boolean, the most frequent word first.
	Words []WordCount
}

// WordCount is a word with the number of its cells.
type WordCount struct {
	Word string `json:"word"`
	Rows int    `json:"rows"`
}

// otherWord stands for all words that are no category.
const otherWord = "(other)"

// Summary describes the cells of each column, in the order of the schema.
func (f *Frame) Summary() []ColumnSummary {
	list := make([]ColumnSummary, len(f.schema))
	for j := range list {
		list[j] = f.summarise(j)
	}
	return list
}

func (f *Frame) summarise(j int) ColumnSummary {
	s := ColumnSummary{Column: f.schema[j], Least: math.Inf(1), Greatest: math.Inf(-1)}
	counts := make(map[string]int)
	sum, n := 0.0, 0
	for i := range f.Rows() {
		v := f.row(i)[j]
		switch {
		case isGap(v):
			s.Gaps++
		case s.Type == Category || s.Type == Boolean:
			counts[f.word(j, v)]++
		default:
			s.Least, s.Greatest = min(s.Least, v), max(s.Greatest, v)
			sum, n = sum+v, n+1
		}
	}
	if s.Mean = sum / float64(n); n == 0 {
		s.Least, s.Greatest = math.NaN(), math.NaN()
	}
	s.Words = sorted(counts)
	return s
}

// CountWords counts the rows of each word, the most frequent word first.
func CountWords(words []string) []WordCount {
	counts := make(map[string]int)
	for _, word := range words {
		counts[word]++
	}
	return sorted(counts)
}

func sorted(counts map[string]int) (list []WordCount) {
	for word, rows := range counts {
		list = append(list, WordCount{word, rows})
	}
	slices.SortFunc(list, func(a, b WordCount) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Word, b.Word))
	})
	return list
}

// word returns the word of a code of a category or a boolean.
func (f *Frame) word(j int, code float64) string {
	c := &f.schema[j]
	words := c.Categories
	switch {
	case code == unseen:
		return otherWord
	case c.Type == Boolean:
		words = []string{"false", "true"}
	case c.Agree:
		words = f.words[j]
	}
	return words[int(code)]
}

package partition

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"maps"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Warnings returns warnings that need the rows of all parties. They count row ids that two parties have in
// common, and held-out rows that equal a training row, because both can make figures better than on new rows.
// They also count words that are too rare to be agreed on, and name columns with one value and classes with few
// rows or holders. For parties that hold different columns, the only warning says which steps would make more ids
// common, if any would.
func Warnings(j *job.Job, shares []Share) ([]string, error) {
	if advice, _ := idAdvice(j, shares); advice != "" {
		return []string{advice}, nil
	}
	if j.Data.Partition.By == job.Columns || shares[0].Table.Set == nil {
		return nil, nil
	}
	splits, err := Splits(j, shares)
	if err != nil {
		return nil, err
	}
	list := slices.Concat(warnCommonIDs(shares), warnEqualRows(splits), warnRareWords(splits), warnConstantColumns(splits))
	if j.Task().Classes {
		list = slices.Concat(list, warnLonelyClasses(j.Parties(), splits), warnFewForFolds(&j.Data, splits))
	}
	return list, nil
}

// warnLonelyClasses warns of each class that only one of several parties has. It also warns of each
// party that has a single class.
func warnLonelyClasses(parties []string, splits []method.Split) (list []string) {
	if len(splits) < 2 {
		return nil
	}
	holders := make(map[string][]string)
	for i, s := range splits {
		classes, _ := dataset.Classes(s.Set.Labels)
		for _, class := range classes {
			holders[class] = append(holders[class], parties[i])
		}
		if len(classes) == 1 {
			list = append(list, fmt.Sprintf("all rows of %s are of class %q", parties[i], classes[0]))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(holders)) {
		if len(holders[class]) == 1 {
			list = append(list, fmt.Sprintf("only %s has rows of class %q; check the spelling of the class at the other parties", holders[class][0], class))
		}
	}
	return list
}

// warnFewForFolds warns of each class that has fewer training rows than there are folds.
func warnFewForFolds(d *job.Data, splits []method.Split) (list []string) {
	if d.LeavesOneOut() {
		return nil
	}
	counts := make(map[string]int)
	for _, s := range splits {
		for _, i := range s.Rows(false) {
			counts[s.Set.Labels[i]]++
		}
	}
	for _, class := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[class]; n < d.Folds {
			list = append(list, fmt.Sprintf("class %q has %s, fewer than the %d folds, so that some folds have none", class, humanize.Count(n, "training row"), d.Folds))
		}
	}
	return list
}

// warnConstantColumns returns a warning about columns that have one value in all training rows, or
// values that differ only by rounding.
func warnConstantColumns(splits []method.Split) []string {
	columns := splits[0].Set.Columns
	if columns == nil {
		return nil
	}
	var least, most []float64
	for _, s := range splits {
		row := make([]float64, s.Set.X.Cols())
		for _, i := range s.Rows(false) {
			s.Set.X.Row(i, row)
			if least == nil {
				least, most = slices.Clone(row), slices.Clone(row)
			}
			for k, v := range row {
				least[k], most[k] = min(least[k], v), max(most[k], v)
			}
		}
	}
	var constant []string
	for k := range least {
		if most[k]-least[k] <= linalg.RoundingRange(least[k], most[k]) {
			constant = append(constant, columns[k])
		}
	}
	if len(constant) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s with one value in all training rows: %s", humanize.Count(len(constant), "column"), listSome(constant))}
}

// listSome lists up to eight names.
func listSome(names []string) string {
	return humanize.Names(names, 8)
}

// warnRareWords returns a warning for each column with words that the parties did not agree on.
func warnRareWords(splits []method.Split) (list []string) {
	words, counts, as, training := make(map[string]map[string]bool), make(map[string]int), make(map[string]string), 0
	for _, s := range splits {
		if s.Frame == nil {
			return nil
		}
		rows := s.Rows(false)
		training += len(rows)
		for _, m := range s.Prepared.Merged(s.Frame, rows) {
			if words[m.Column] == nil {
				words[m.Column] = make(map[string]bool)
			}
			for _, w := range m.Words {
				words[m.Column][w] = true
			}
			counts[m.Column] += m.Rows
			as[m.Column] = m.CountAs
		}
	}
	for _, column := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("column %s: %d of %d training rows hold words that no party has in at least %d training rows (%s), and count as %s; pooled training keeps these words",
			dataset.Quote(column), counts[column], training, prepare.Least, humanize.Count(len(words[column]), "word"), as[column]))
	}
	return list
}

// warnCommonIDs returns a warning for each pair of parties that have row ids in common.
func warnCommonIDs(shares []Share) (list []string) {
	for i, a := range shares {
		has := make(map[string]bool, len(a.Table.Set.IDs))
		for _, id := range a.Table.Set.IDs {
			has[id] = true
		}
		for _, b := range shares[i+1:] {
			n := 0
			for _, id := range b.Table.Set.IDs {
				if has[id] {
					n++
				}
			}
			if n > 0 {
				list = append(list, fmt.Sprintf("%s and %s have %s in common: the same person can be in training at one of them and held out at the other, which makes the figures too good; remove these rows at one of them", a.Party, b.Party, humanize.Count(n, "row id")))
			}
		}
	}
	return list
}

// warnEqualRows returns a warning about held-out rows whose features all equal the features of a
// training row of any party.
func warnEqualRows(splits []method.Split) []string {
	trained := make(map[[sha256.Size]byte]bool)
	rows := 0
	for _, s := range splits {
		for _, row := range rowDigests(s, false) {
			trained[row] = true
			rows++
		}
	}
	equal, held := 0, 0
	for _, s := range splits {
		for _, row := range rowDigests(s, true) {
			held++
			if trained[row] {
				equal++
			}
		}
	}
	if equal == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d held-out rows equal a training row in every feature, and the %d training rows are %d different ones: figures can be better than on new rows; if a column names the person, group by it", equal, held, rows, len(trained))}
}

// rowDigests returns a digest of the features of each held-out row if heldOut is true, else of each
// training row.
func rowDigests(s method.Split, heldOut bool) [][sha256.Size]byte {
	list := make([][sha256.Size]byte, 0, len(s.Test))
	x := dataset.RowsOf(s.Set.X)
	_, cols := x.Shape()
	row, h := make([]float64, cols), sha256.New()
	for _, r := range s.Rows(heldOut) {
		x.ReadRow(r, row)
		list = append(list, digest(h, row))
	}
	return list
}

func digest(h hash.Hash, row []float64) (sum [sha256.Size]byte) {
	var w wire.Writer
	for _, v := range row {
		w.Uint64(math.Float64bits(v + 0)) // adding 0 turns -0 into 0
	}
	h.Reset()
	h.Write(w.Bytes())
	h.Sum(sum[:0])
	return sum
}

package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Label is the type of a class label, which is a name or a code from 0.
type Label interface{ ~int | ~string }

// ConfusionMatrix counts, for each pair of classes, the rows of the first class that were
// predicted as the second.
type ConfusionMatrix struct {
	Classes []string // labels as text, in ascending order of the labels
	Counts  [][]int  // Counts[i][j] is the number of rows of class i predicted as class j
	total   int
}

// NewConfusionMatrix counts the pairs of a true and a predicted label over all rows. Its classes
// are those that occur in truth or predicted.
func NewConfusionMatrix[L Label](truth, predicted []L) (*ConfusionMatrix, error) {
	if err := sameRows(len(truth), len(predicted)); err != nil {
		return nil, err
	}
	classes := slices.Compact(slices.Sorted(slices.Values(slices.Concat(truth, predicted))))
	index := make(map[L]int, len(classes))
	m := &ConfusionMatrix{total: len(truth)}
	for i, c := range classes {
		index[c] = i
		m.Classes = append(m.Classes, fmt.Sprint(c))
		m.Counts = append(m.Counts, make([]int, len(classes)))
	}
	for i, c := range truth {
		m.Counts[index[c]][index[predicted[i]]]++
	}
	return m, nil
}

// In returns the matrix with its classes in the given order. The order must list every class of the
// matrix.
func (m *ConfusionMatrix) In(order []string) *ConfusionMatrix {
	var places []int
	for _, class := range order {
		if at := slices.Index(m.Classes, class); at >= 0 {
			places = append(places, at)
		}
	}
	sorted := &ConfusionMatrix{total: m.total}
	for _, i := range places {
		sorted.Classes = append(sorted.Classes, m.Classes[i])
		counts := make([]int, len(places))
		for k, j := range places {
			counts[k] = m.Counts[i][j]
		}
		sorted.Counts = append(sorted.Counts, counts)
	}
	return sorted
}

// Count returns the confusion matrix of true and predicted class codes. It counts row i times[i]
// times.
func Count(classes []string, truth, predicted, times []int) *ConfusionMatrix {
	m := &ConfusionMatrix{Classes: classes, Counts: make([][]int, len(classes))}
	for i := range m.Counts {
		m.Counts[i] = make([]int, len(classes))
	}
	for i, c := range truth {
		m.Counts[c][predicted[i]] += times[i]
		m.total += times[i]
	}
	return m
}

// sameRows returns an error if two lists of the given lengths differ in length or are empty.
func sameRows(first, second int) error {
	if first != second {
		return fmt.Errorf("metrics: the lists to compare have %d and %d entries; the numbers must be equal", first, second)
	}
	if first == 0 {
		return errors.New("metrics: there are no rows to compare")
	}
	return nil
}

// Accuracy returns the share of rows that are predicted correctly.
func (m *ConfusionMatrix) Accuracy() float64 {
	right := 0
	for i := range m.Counts {
		right += m.Counts[i][i]
	}
	return float64(right) / float64(m.total)
}

// F1Micro returns F1 = 2 TP / (2 TP + FP + FN), where the counts TP, FP and FN are summed over all
// classes. Every wrong row is one FP and one FN, so it equals [ConfusionMatrix.Accuracy].
func (m *ConfusionMatrix) F1Micro() float64 { return m.Accuracy() }

// F1Macro returns the mean of F1 over the classes that occur in the truth or among the
// predictions. A class without a right prediction counts as 0.
func (m *ConfusionMatrix) F1Macro() float64 {
	sum, classes := 0.0, 0
	for i := range m.Counts {
		if rows, predicted := m.sums(i); rows+predicted > 0 { // 2 TP + FP + FN, the denominator of F1
			sum, classes = sum+2*float64(m.Counts[i][i])/float64(rows+predicted), classes+1
		}
	}
	return sum / float64(classes)
}

// String returns a table with a row for each true class and a column for each predicted class.
func (m *ConfusionMatrix) String() string {
	rows := [][]string{append([]string{"true \\ predicted"}, m.Classes...)}
	for i, class := range m.Classes {
		row := []string{class}
		for _, n := range m.Counts[i] {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for j, cell := range row {
			fmt.Fprintf(&b, "  %*s", widths[j], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Accuracy returns the share of rows that are predicted correctly.
func Accuracy[L Label](truth, predicted []L) (float64, error) {
	return measured(truth, predicted, (*ConfusionMatrix).Accuracy)
}

// F1Micro returns [ConfusionMatrix.F1Micro] for the given labels.
func F1Micro[L Label](truth, predicted []L) (float64, error) {
	return measured(truth, predicted, (*ConfusionMatrix).F1Micro)
}

// F1Macro returns [ConfusionMatrix.F1Macro] for the given labels.
func F1Macro[L Label](truth, predicted []L) (float64, error) {
	return measured(truth, predicted, (*ConfusionMatrix).F1Macro)
}

func measured[L Label](truth, predicted []L, f func(*ConfusionMatrix) float64) (float64, error) {
	m, err := NewConfusionMatrix(truth, predicted)
	if err != nil {
		return 0, err
	}
	return f(m), nil
}

// ClassFigures holds the figures of one class against all others. A figure is nil if it is
// undefined, such as the precision of a class that was never predicted, or the recall of a class without rows.
type ClassFigures struct {
	Class       string   `json:"class"`
	Rows        int      `json:"rows"`        // number of rows of this class
	Predicted   int      `json:"predicted"`   // number of rows that were predicted to be of the class
	Precision   *float64 `json:"precision"`   // share of the Predicted rows that are of the class: the PPV
	Recall      *float64 `json:"recall"`      // share of the class's rows that are predicted to be of the class: the sensitivity
	Specificity *float64 `json:"specificity"` // share of the other rows that are not predicted to be of the class
	NPV         *float64 `json:"npv"`         // share of the rows not predicted to be of the class that are not of it
	F1          *float64 `json:"f1"`
}

// PerClass returns the figures of each class, in the order of Classes.
func (m *ConfusionMatrix) PerClass() []ClassFigures {
	all := make([]ClassFigures, len(m.Classes))
	for i, class := range m.Classes {
		rows, predicted := m.sums(i)
		right := m.Counts[i][i]
		cleared := m.cleared(i)
		all[i] = ClassFigures{
			Class: class, Rows: rows, Predicted: predicted, Precision: share(right, predicted), Recall: share(right, rows),
			Specificity: share(cleared, m.total-rows), NPV: share(cleared, m.total-predicted), F1: share(2*right, rows+predicted),
		}
	}
	return all
}

// cleared returns the number of rows that are not of class i and that were not predicted as class i.
func (m *ConfusionMatrix) cleared(i int) int {
	rows, predicted := m.sums(i)
	return m.total - rows - predicted + m.Counts[i][i]
}

// sums returns the number of rows of class i and the number of rows that were predicted as class i.
func (m *ConfusionMatrix) sums(i int) (rows, predicted int) {
	for j := range m.Counts {
		rows, predicted = rows+m.Counts[i][j], predicted+m.Counts[j][i]
	}
	return rows, predicted
}

func share(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	v := float64(part) / float64(whole)
	return &v
}

// BalancedAccuracy returns the mean recall of the classes that occur in the truth. It equals
// scikit-learn's balanced_accuracy_score.
func (m *ConfusionMatrix) BalancedAccuracy() float64 {
	sum, classes := 0.0, 0
	for i := range m.Counts {
		if rows, _ := m.sums(i); rows > 0 {
			sum, classes = sum+float64(m.Counts[i][i])/float64(rows), classes+1
		}
	}
	return sum / float64(classes)
}

// BalancedAccuracy returns [ConfusionMatrix.BalancedAccuracy] for the given labels.
func BalancedAccuracy[L Label](truth, predicted []L) (float64, error) {
	return measured(truth, predicted, (*ConfusionMatrix).BalancedAccuracy)
}

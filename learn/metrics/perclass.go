package metrics

// ClassFigures holds the figures of one class against all others. A figure is nil where it has no
// value: the precision of a class that was never predicted, the recall of one without rows.
type ClassFigures struct {
	Class       string   `json:"class"`
	Rows        int      `json:"rows"`        // of the class
	Predicted   int      `json:"predicted"`   // rows that were predicted to be of the class
	Precision   *float64 `json:"precision"`   // the share of the predicted rows that are of the class
	Recall      *float64 `json:"recall"`      // the share of the class's rows that are predicted so: its sensitivity
	Specificity *float64 `json:"specificity"` // the share of the other rows that are not predicted so
	F1          *float64 `json:"f1"`
}

// PerClass returns the figures of each class, in the order of Classes.
func (m *ConfusionMatrix) PerClass() []ClassFigures {
	all := make([]ClassFigures, len(m.Classes))
	for i, class := range m.Classes {
		rows, predicted := m.sums(i)
		right := m.Counts[i][i]
		all[i] = ClassFigures{
			Class: class, Rows: rows, Predicted: predicted, Precision: share(right, predicted), Recall: share(right, rows),
			Specificity: share(m.total-rows-predicted+right, m.total-rows), F1: share(2*right, rows+predicted),
		}
	}
	return all
}

// sums returns the rows of class i and the rows that were predicted so.
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

// BalancedAccuracy returns the mean recall of the classes that occur in the truth, as
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

// BalancedAccuracy is [ConfusionMatrix.BalancedAccuracy] of these labels.
func BalancedAccuracy[L Label](truth, predicted []L) (float64, error) {
	return measured(truth, predicted, (*ConfusionMatrix).BalancedAccuracy)
}

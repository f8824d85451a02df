package boost

// Absent is the feature of a place in a tree where no node is.
const Absent = -2

// Node is a node of a tree. The feature of a leaf is -1.
type Node struct {
	Feature, Bin int32   // rows in bins of the feature up to Bin go left
	Value        float64 // of a leaf
}

// Model is a sum of trees. The root of a tree stands at place 1, and the children of
// the node at place k stand at 2k and 2k+1.
type Model struct {
	Trees      [][]Node
	Mean, Unit float64 // of numbers: a score is Mean + Unit times the sum; else 0 and 1
}

// Score returns the score of a row by the bins of its columns.
func (m Model) Score(bin func(feature int) int) float64 {
	sum := 0.0
	for _, tree := range m.Trees {
		at := 1
		for tree[at].Feature >= 0 {
			next := 2 * at
			if bin(int(tree[at].Feature)) > int(tree[at].Bin) {
				next++
			}
			at = next
		}
		sum += tree[at].Value
	}
	return m.Mean + m.Unit*sum
}

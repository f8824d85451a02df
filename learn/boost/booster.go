package boost

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// Loss is the loss function that a training minimises.
type Loss uint8

// These are the loss functions.
const (
	Logistic Loss = iota // logistic loss, for targets 0 and 1
	Squared              // squared error, for targets that are numbers
)

// Params are the settings of a training.
type Params struct {
	Loss   Loss
	Rounds int // number of trees
	Depth  int // greatest depth of a tree; 1 makes stumps
	Rate   float64
	Lambda float64 // weight of the penalty on the squared leaf values
	Gamma  float64 // cost of a split, which the split's gain must exceed
}

// These constants bound the settings and the number of training rows.
const (
	MaxRounds = 1 << 12
	MaxDepth  = 8
	MaxRows   = 1 << 22
)

// Validate returns an error for the first invalid setting.
func (p Params) Validate() error {
	switch {
	case p.Loss > Squared:
		return fmt.Errorf("boost: loss %d is not known; choose Logistic or Squared", p.Loss)
	case p.Rounds < 1 || p.Rounds > MaxRounds:
		return fmt.Errorf("boost: rounds is %d; choose 1 to %d", p.Rounds, MaxRounds)
	case p.Depth < 1 || p.Depth > MaxDepth:
		return fmt.Errorf("boost: depth is %d; choose 1 to %d", p.Depth, MaxDepth)
	case !(p.Rate > 0) || p.Rate > 1:
		return fmt.Errorf("boost: rate is %g; write a number above 0 and up to 1", p.Rate)
	case !(p.Lambda >= 0) || math.IsInf(p.Lambda, 1):
		return fmt.Errorf("boost: lambda is %g; write 0 or more", p.Lambda)
	case !(p.Gamma >= 0) || math.IsInf(p.Gamma, 1):
		return fmt.Errorf("boost: gamma is %g; write 0 or more", p.Gamma)
	}
	return nil
}

// Gradients are stored in fixed point, as an integer number of steps of 2^-Scale. The magnitude is
// at most MostGradient steps. Residuals of the squared loss are at most 1 at first, and are cut off
// at 4.
const (
	Scale        = 22
	MostGradient = 4 << Scale
)

// Booster builds a model tree by tree from histograms that the caller computes. The caller reports
// the nodes of a tree from the root on: node 1 is the root, and 2k and 2k+1 are the children of
// node k.
type Booster struct {
	params  Params
	y       []float64 // targets of the training rows, for the squared loss scaled to the range from -1 to 1
	mean    float64   // mean of the numbers to predict
	unit    float64   // largest distance of a number from the mean; 1 if it is 0, and for the logistic loss
	scores  []float64 // scores of all rows
	model   Model
	pending []Node // nodes of the tree that is growing
}

// New returns a booster for n rows. The first len(y) rows, with the targets y, are for training.
func New(p Params, y []float64, n int) (*Booster, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if len(y) < 1 || len(y) > n || n > MaxRows {
		return nil, fmt.Errorf("boost: %d of %d rows are training rows; there must be at least 1 training row and at most %d rows", len(y), n, MaxRows)
	}
	b := &Booster{params: p, y: slices.Clone(y), unit: 1, scores: make([]float64, n)}
	if p.Loss == Squared {
		b.standardise()
	}
	for i, v := range b.y {
		switch {
		case p.Loss == Logistic && v != 0 && v != 1:
			return nil, fmt.Errorf("boost: target %d is neither 0 nor 1, which the logistic loss needs", i)
		case v-v != 0:
			return nil, fmt.Errorf("boost: target %d is not finite, or the targets overflow", i)
		}
	}
	b.model = Model{Mean: b.mean, Unit: b.unit}
	return b, nil
}

// standardise scales the numbers to predict to the range from -1 to 1.
func (b *Booster) standardise() {
	for _, v := range b.y {
		b.mean += v / float64(len(b.y))
	}
	most := 0.0
	for _, v := range b.y {
		most = max(most, math.Abs(v-b.mean))
	}
	if most > 0 {
		b.unit = most
	}
	for i, v := range b.y {
		b.y[i] = (v - b.mean) / b.unit
	}
}

// Gradients returns the gradient and the second derivative of each training row at the current
// scores, in fixed point. The next tree is built from these numbers. After the last tree, Gradients
// returns false.
func (b *Booster) Gradients() ([][2]int64, bool) {
	if len(b.model.Trees) == b.params.Rounds {
		return nil, false
	}
	list := make([][2]int64, len(b.y))
	for i, y := range b.y {
		g, h := b.scores[i]-y, 1.0
		if b.params.Loss == Logistic {
			p := logistic(b.scores[i])
			g, h = p-y, float64(p*(1-p))
		}
		list[i] = [2]int64{fixed(g), max(1, fixed(h))} // at least one step, so that no row counts as absent
	}
	b.pending = nil
	return list, true
}

// logistic returns 1/(1+e^-score). It has the same bits on every machine.
func logistic(score float64) float64 {
	e := exactmath.ExpNegative(math.Abs(score))
	if score < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func fixed(v float64) int64 {
	return max(-MostGradient, min(MostGradient, int64(math.RoundToEven(v*(1<<Scale)))))
}

// Split returns the split of a node with the greatest gain. The histogram holds, for each feature,
// the sums of gradients and of second derivatives in each bin. Rows in bins up to bin go left.
// Split returns false for a node that becomes a leaf. Among equal gains the first feature and bin
// wins.
func (b *Booster) Split(node int, histogram [][][2]int64) (feature, bin int, ok bool) {
	best := 0.0
	for f, cells := range histogram {
		total := sumOf(cells)
		before, left := b.quality(total), [2]int64{}
		for k := 0; k+1 < len(cells); k++ {
			left = [2]int64{left[0] + cells[k][0], left[1] + cells[k][1]}
			right := [2]int64{total[0] - left[0], total[1] - left[1]}
			if left[1] <= 0 || right[1] <= 0 { // one side of the split is empty
				continue
			}
			gain := (b.quality(left)+b.quality(right)-before)/2 - b.params.Gamma
			if gain > best {
				best, feature, bin, ok = gain, f, k, true
			}
		}
	}
	if ok {
		b.put(node, Node{Feature: int32(feature), Bin: int32(bin)})
	}
	return feature, bin, ok
}

func sumOf(cells [][2]int64) (sum [2]int64) {
	for _, c := range cells {
		sum[0], sum[1] = sum[0]+c[0], sum[1]+c[1]
	}
	return sum
}

// quality returns G^2/(H+lambda) for sums G and H, in floating point.
func (b *Booster) quality(s [2]int64) float64 {
	g, h := math.Ldexp(float64(s[0]), -Scale), math.Ldexp(float64(s[1]), -Scale)
	return float64(g*g) / (h + b.params.Lambda)
}

// Leaf makes a node a leaf and computes the leaf's value from sum, the sums over the training rows
// of the node. It adds the value to the scores of the given rows.
func (b *Booster) Leaf(node int, sum [2]int64, rows []int32) {
	value := 0.0
	if g, h := math.Ldexp(float64(sum[0]), -Scale), math.Ldexp(float64(sum[1]), -Scale); h+b.params.Lambda > 0 {
		value = -b.params.Rate * (g / (h + b.params.Lambda))
	}
	b.put(node, Node{Feature: -1, Value: value})
	for _, i := range rows {
		b.scores[i] += value
	}
}

// Done completes a tree and adds it to the model.
func (b *Booster) Done() { b.model.Trees = append(b.model.Trees, b.pending) }

func (b *Booster) put(node int, n Node) {
	for len(b.pending) <= node {
		b.pending = append(b.pending, Node{Feature: Absent})
	}
	b.pending[node] = n
}

// Depth returns the depth at which every node becomes a leaf.
func (b *Booster) Depth() int { return b.params.Depth }

// Scores returns the current score of each row. For classes, a positive score means class 1; for
// numbers, the score is the prediction.
func (b *Booster) Scores() []float64 {
	scores := make([]float64, len(b.scores))
	for i, s := range b.scores {
		scores[i] = b.mean + b.unit*s
	}
	return scores
}

// Model returns the model of all trees that [Booster.Done] has completed.
func (b *Booster) Model() Model { return b.model }

// Absent is the feature at an index of a tree where there is no node.
const Absent = -2

// Node is a node of a tree. The feature of a leaf is -1.
type Node struct {
	Feature, Bin int32   // rows whose bin of the feature is at most Bin go left
	Value        float64 // value of a leaf
}

// Model is a sum of trees. The root of a tree has index 1, and the children of node k have the
// indices 2k and 2k+1.
type Model struct {
	Trees      [][]Node
	Mean, Unit float64 // the score of a row is Mean plus Unit times the sum of its leaf values
}

// Score returns the score of a row, given a function that returns the row's bin in a column.
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

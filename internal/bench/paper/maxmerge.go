package paper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/report"
)

// crowd is a rule for the number of people in a round of Figure 1. The number is a share of all
// people, drawn anew for each round between low and high.
type crowd struct {
	name      string
	low, high float64
}

// crowds lists the crowds of Figure 1: five constant sizes, and a size that is drawn anew in each
// round. The paper's "random set of users (with a size between 1% and 50%)" can mean either.
var crowds = []crowd{
	{"1 % of people", .01, .01}, {"5 % of people", .05, .05}, {"10 % of people", .10, .10},
	{"30 % of people", .30, .30}, {"50 % of people", .50, .50}, {"1 to 50 %, drawn anew", .01, .50},
}

// few is the largest share of people with which rounds do not improve the estimate on ml-100k.
const few = .10

// draw chooses the people of one round and returns their lists of items.
func (c crowd) draw(s *prg.Stream, lists [][]int) [][]int {
	share := c.low + s.Float64()*(c.high-c.low)
	order := s.Perm(len(lists))
	chosen := make([][]int, max(2, int(share*float64(len(lists))+1e-9)))
	for i := range chosen {
		chosen[i] = lists[order[i]]
	}
	return chosen
}

// mergeErrors returns the squared error of the estimated kernel after each round. The server keeps
// the largest count of all rounds for each pair of items. The counts are computed without masks,
// because the sums of the protocol are exact.
func mergeErrors(ctx context.Context, c crowd, lists [][]int, items, rounds int) ([]float64, error) {
	linear := komd.Spec{Name: komd.Linear}
	truth, err := linear.Kernel(komd.CountsOf(items, lists))
	if err != nil {
		return nil, err
	}
	merged := komd.Counts{C: linalg.New[float64](items, items)}
	s, errors := prg.New([32]byte{}, "bench/paper/figure1 "+c.name), make([]float64, rounds)
	for round := range errors {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		merge(&merged, komd.CountsOf(items, c.draw(s, lists)))
		estimate, err := linear.Kernel(merged)
		if err != nil {
			return nil, err
		}
		errors[round] = squaredError(estimate, truth)
	}
	return errors, nil
}

// merge replaces each merged count by the round's count if the round's count is larger.
func merge(merged *komd.Counts, round komd.Counts) {
	merged.Users = max(merged.Users, round.Users)
	for at, n := range round.C.Data {
		merged.C.Data[at] = max(merged.C.Data[at], n)
	}
}

// squaredError returns the mean squared difference of two kernels.
func squaredError(a, b linalg.Matrix[float64]) float64 {
	sum := 0.
	for at, v := range a.Data {
		d := v - b.Data[at]
		sum += d * d
	}
	return sum / float64(len(a.Data))
}

// polatoFigure1 reproduces Figure 1: the error of the estimated kernel over 200 rounds. The error
// is the mean squared difference from the true normalised kernel.
func polatoFigure1(ctx context.Context, l *Runner) (*Measurement, error) {
	const claim = "Rounds bring the estimated kernel nearer to the kernel."
	if f := ml100k.missing(l, claim); f != nil {
		return f, nil
	}
	ratings, err := l.Ratings(ml100k.source)
	if err != nil {
		return nil, err
	}
	rounds, chosen := 200, crowds
	if l.Quick {
		rounds, chosen = 40, []crowd{crowds[1], crowds[3], crowds[5]}
	}
	f := &Measurement{Data: "original: " + ml100k.name + "; counts without masks, which equal the sums of the protocol"}
	return f, f.figure1(ctx, ratings, rounds, chosen)
}

// figure1 adds the rows, the curve and the claims of Figure 1.
func (f *Measurement) figure1(ctx context.Context, ratings *dataset.Ratings, rounds int, chosen []crowd) error {
	train, _, err := ratings.Newest(.1)
	if err != nil {
		return err
	}
	lists, lines := ratings.Profiles(train), make([]report.Line, len(chosen))
	for i, c := range chosen {
		errors, err := mergeErrors(ctx, c, lists, len(ratings.Items), rounds)
		if err != nil {
			return err
		}
		lines[i] = report.Line{Name: c.name, Values: errors}
		for _, round := range slices.Compact([]int{1, min(10, rounds), min(100, rounds), rounds}) {
			f.Rows = append(f.Rows, Row{c.name, fmt.Sprintf("squared error after round %d", round), once(errors[round-1]), nil})
		}
	}
	f.Curves = []report.Curve{{Title: "squared error of the normalised kernel", X: "rounds", Scale: report.LogScale(lines), Steps: numbered(rounds), Lines: lines}}
	f.Claims = nearer(chosen, lines)
	return nil
}

// nearer judges whether rounds halve the error, for small and for large crowds.
func nearer(chosen []crowd, lines []report.Line) []Claim {
	var small, large []report.Line
	for i, c := range chosen {
		if c.high <= few {
			small = append(small, lines[i])
		} else {
			large = append(large, lines[i])
		}
	}
	claims := []Claim{halved("Rounds bring the estimated kernel nearer to the kernel, with 30 % of people or more.", large)}
	return append(claims, asDoubted(halved("Rounds bring the estimated kernel nearer to the kernel, with 10 % of people or fewer.", small)))
}

// halved judges the claim that the last error of each line is at most half of the line's first
// error.
func halved(claim string, lines []report.Line) Claim {
	holds := len(lines) > 0
	var numbers []string
	for _, line := range lines {
		first, last := line.Values[0], line.Values[len(line.Values)-1]
		holds = holds && last <= first/2
		numbers = append(numbers, fmt.Sprintf("%s: %.4f after one round, %.4f after %d", line.Name, first, last, len(line.Values)))
	}
	return judge(claim, holds, "%s", strings.Join(numbers, "; "))
}

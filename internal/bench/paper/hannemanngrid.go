package paper

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// componentSet describes one cell of the paper's Table 1: a data set and a kernel.
type componentSet struct{ name, source, kernel string }

// componentSets returns the cells of Table 1. Quick mode takes smaller slices, and the test part of
// the blood cells.
func componentSets(l *Runner) []componentSet {
	slices, cells, note := "alzheimer-mri#64x64", bloodCells, "9,957 images"
	if l.Quick {
		slices, cells, note = "alzheimer-mri#32x32", "blood-cells/test-images-idx3-ubyte.gz", "2,487 images"
	}
	_, size, _ := strings.Cut(slices, "#")
	return []componentSet{
		{"Alzheimer's disease, " + size + " pixels, polynomial", slices, "{name: polynomial, gamma: 1, gamma_unit: norm, coef0: 1, degree: 3}"},
		{"blood cells, " + note + " of 64 x 48 pixels in grey, Gaussian", cells, ofDistances},
	}
}

// hannemannTable1 reproduces Table 1: the components of held-out rows beside those that kernel PCA
// without privacy finds.
func hannemannTable1(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "original images, slices scaled down, blood cells in grey; five components of held-out rows"}
	worst, least, cells := 0., 1., 0
	for _, set := range componentSets(l) {
		if source, _, _ := strings.Cut(set.source, "#"); !l.Has(source) {
			continue
		}
		r, err := l.do(ctx, task{
			name:     "hannemann-kpca",
			data:     "source: " + set.source + "\nlabel: none\nscale: none\npartition: {parties: [" + parties(3) + "]}\ntest: {fraction: 0.25}",
			protocol: "{name: okra}", kernel: set.kernel, learner: "{name: kpca, n_components: 5}", compare: "pooled",
		})
		if err != nil {
			return nil, err
		}
		if r.Components == nil || r.Components.R2 == nil {
			return nil, fmt.Errorf("the result of job %s has no comparison of components", set.name)
		}
		f.Rows = append(f.Rows,
			Row{set.name, "mse", once(r.Components.MSE), published(0)}, Row{set.name, "r2", once(*r.Components.R2), published(1)})
		worst, least, cells = math.Max(worst, r.Components.MSE), math.Min(least, *r.Components.R2), cells+1
	}
	claim := judge("OKRA's kernel PCA gives the components of kernel PCA without privacy.", worst < 1e-6 && least > 1-1e-6, "largest mean squared error %.2g, least R2 %.9f", worst, least)
	if cells == 0 {
		claim.Verdict, claim.Numbers = Unknown, "the images are not in the data folder"
	}
	f.Claims = []Claim{claim}
	return f, nil
}

// The paper's grid: C from 2^-4 to 2^10, and the degree of the polynomial kernel from 1 to 5.
const (
	gridC          = "[0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]"
	gridPolynomial = "{name: polynomial, gamma: 1, gamma_unit: norm, coef0: 1, degree: [1, 2, 3, 4, 5]}"
)

// gridSets returns the sets of the grid. The paper's degrees are those of a polynomial kernel, so
// the other kernels have a grid over C only.
func gridSets(l *Runner) []hannemannSet {
	sets := []hannemannSet{
		{"digits, polynomial, degrees 1 to 5", "bundled:digits", "", "none", gridPolynomial, nil, nil, false},
		{"generated, 400 rows of 12,800 features, four classes, linear", "generated:400x12800x4", "", "none", linear, published(.89), published(.95), false},
	}
	if l.Quick {
		return sets
	}
	return append(sets,
		hannemannSet{"generated, 3,200 rows of 12,800 features, four classes, linear", "generated:3200x12800x4", "", "none", linear, published(.89), published(.95), false},
		hannemannSet{"Alzheimer's disease, four classes, 32 x 32 pixels, Gaussian", "alzheimer-mri#32x32", "", "none", ofSlices, published(.97), published(1), true},
		hannemannSet{"blood cells, 2,487 images of 64 x 48 pixels in grey, Gaussian", "blood-cells/test-images-idx3-ubyte.gz", "", "none", ofDistances, published(.88), published(.94), false})
}

// hannemannGrid trains with the paper's grid and five folds. Every row is held out once. The
// figures are those of the best cell, so they are a little too good, as in the paper.
func hannemannGrid(ctx context.Context, l *Runner) (*Measurement, error) {
	f := &Measurement{Data: "C from 2^-4 to 2^10 by five folds, best cell; F1 micro where classes are balanced, else macro; original images where they are in the data folder"}
	for _, set := range gridSets(l) {
		if source, _, _ := strings.Cut(set.source, "#"); !strings.Contains(source, ":") && !l.Has(source) {
			continue
		}
		r, err := l.do(ctx, task{
			name:     "hannemann-grid",
			data:     "source: " + set.source + "\nlabel: label\nscale: " + set.scale + "\npartition: {parties: [" + parties(3) + "]}\nfolds: 5",
			protocol: "{name: okra}", kernel: set.kernel, learner: "{name: svc, C: " + gridC + "}",
		})
		if err != nil {
			return nil, err
		}
		f.Rows = append(f.Rows, Row{set.name, set.f1Name(), together(r, set.f1Name()), set.f1}, Row{set.name, "auc", together(r, "auc"), set.auc})
	}
	return f, nil
}

package learner

import (
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func TestLikenessOf(t *testing.T) {
	pooled := linalg.Matrix[float64]{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, 5, 2, 7, 3, 9}}
	for name, c := range map[string]struct {
		components []float64
		mse, r2    float64
	}{
		"a component with the other sign is the same component": {[]float64{-1, 5, -2, 7, -3, 9}, 0, 1},
		"a component that is 1 off has its share":               {[]float64{2, 5, 3, 7, 4, 9}, .5, .25}, // 1-3/2 and 1
	} {
		l := LikenessOf(linalg.Matrix[float64]{Rows: 3, Cols: 2, Stride: 2, Data: c.components}, pooled)
		if l.R2 == nil || l.MSE != c.mse || *l.R2 != c.r2 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	flat := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{4, 4}}
	if l := LikenessOf(flat, flat); l.MSE != 0 || l.R2 != nil {
		t.Errorf("a component without variance has an R2: %+v", l)
	}
}

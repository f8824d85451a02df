package generated

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Each class has its own mean, which is the mean of its rows on both sides of a panel's end.
func TestClusters(t *testing.T) {
	const rows, columns, classes = 9000, 10, 4
	set, err := Clusters(rows, columns, classes)
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	centres, sum, others := centresOf(classes, columns), linalg.New[float64](classes, columns), 0
	for i := range rows {
		for j, v := range set.X.Row(i, make([]float64, columns)) {
			sum.Row(i % classes)[j] += v * classes / rows
		}
		if set.Labels[i] != strconv.Itoa(i%classes) {
			others++
		}
	}
	for c := range classes {
		for j, v := range sum.Row(c) {
			if math.Abs(v-centres.Row(c)[j]) > .1 {
				t.Errorf("class %d has the mean %v in column %d, and its cluster %v", c, v, j, centres.Row(c)[j])
			}
		}
	}
	squares, within := 0.0, 0 // a normal distribution of deviation 1 has 68.3 % within one deviation
	for i := range rows {
		for j, v := range set.X.Row(i, make([]float64, columns)) {
			from := v - centres.Row(i % classes)[j]
			if squares += from * from; math.Abs(from) < 1 {
				within++
			}
		}
	}
	if variance, share := squares/(rows*columns), float64(within)/(rows*columns); math.Abs(variance-1) > .03 || math.Abs(share-.6827) > .01 {
		t.Errorf("numbers have the variance %v around their cluster, and %v of them lie within one deviation", variance, share)
	}
	apart, pairs := 0.0, 0 // mean squared distance of two classes' means in a column
	for c := range classes {
		for d := range c {
			for j, v := range sum.Row(c) {
				apart, pairs = apart+(v-sum.Row(d)[j])*(v-sum.Row(d)[j]), pairs+1
			}
		}
	}
	if apart /= float64(pairs); !(apart >= .1 && apart <= .5) { // 2 .35^2 is expected
		t.Errorf("the means of two classes have a mean squared distance of %v in a column", apart)
	}
	if share := float64(others) / rows; math.Abs(share-wrong*(classes-1)/classes) > .01 {
		t.Errorf("%v of the labels are wrong", share)
	}
}

// A sparse table has as many numbers in each row as its density says, and a dense one has all;
// both have two classes of the same size.
func TestBells(t *testing.T) {
	for density, filled := range map[float64]int{1: 40, .1: 4, .001: 1} {
		set, err := Bells(5000, 40, density)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Validate(); err != nil {
			t.Fatal(err)
		}
		ones, row := 0, make([]float64, 40)
		for i := range 5000 {
			stored := 0
			for _, v := range set.X.Row(i, row) {
				if v != 0 {
					stored++
				}
			}
			if stored != filled {
				t.Fatalf("density %g: row %d has %d numbers, want %d", density, i, stored, filled)
			}
			if set.Labels[i] == "1" {
				ones++
			}
		}
		if ones < 2400 || ones > 2600 {
			t.Errorf("density %g: %d of 5000 rows are of class 1", density, ones)
		}
		again, err := Bells(5000, 40, density)
		if err != nil || cmp.Diff(set.Labels, again.Labels) != "" || cmp.Diff(set.X.Row(4500, row), again.X.Row(4500, make([]float64, 40))) != "" {
			t.Errorf("density %g: another table the second time, %v", density, err)
		}
	}
}

// Marks have ones where sparse rows of bells have numbers, and labels that follow them.
func TestMarks(t *testing.T) {
	set, err := Marks(5000, 40, .1)
	if err != nil {
		t.Fatal(err)
	}
	table, ones := set.X.(*dataset.CSR), 0
	for i := range 5000 {
		if _, values := table.Entries(i); cmp.Diff([]float64{1, 1, 1, 1}, values) != "" {
			t.Fatalf("row %d: %v", i, values)
		}
		if set.Labels[i] == "1" {
			ones++
		}
	}
	if ones < 2400 || ones > 2600 || set.Validate() != nil {
		t.Errorf("%d of 5000 rows are of class 1, %v", ones, set.Validate())
	}
}

// One label in twenty is not on its side of the median.
func TestNoiseOfBells(t *testing.T) {
	values := make([]float64, 10000)
	for i := range values {
		values[i] = float64(i)
	}
	turned := 0
	for i, l := range sides(values) {
		if (l == "1") != (i >= 5000) {
			turned++
		}
	}
	if turned < 420 || turned > 580 {
		t.Errorf("%d of 10000 labels are turned, want about 500", turned)
	}
}

func TestClustersAndBellsRefuse(t *testing.T) {
	_, clusters := Clusters(0, 3, 4)
	_, one := Clusters(10, 3, 1)
	_, many := Clusters(10, 3, MaxClasses+1)
	_, huge := Clusters(dataset.MaxCells, 2, 4)
	_, none := Bells(10, 3, 0)
	_, over := Bells(10, 3, 1.5)
	_, nan := Bells(10, 3, math.NaN())
	_, wide := Bells(10, dataset.MaxColumns+1, .1)
	_, wider := Bells(10, maxColumns+1, .1)
	_, equal := Marks(10, 3, 1)
	for _, c := range []struct {
		err  error
		want string
	}{
		{clusters, "0 rows"}, {one, "1 classes"}, {many, "choose 2 to"}, {huge, "numbers are allowed"},
		{none, "density is 0"}, {over, "density is 1.5"}, {nan, "density is NaN"}, {wide, "at most"},
		{wider, "radial basis functions allow"}, {equal, "all rows would be equal"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}

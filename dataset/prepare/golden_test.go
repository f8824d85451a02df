package prepare

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// golden holds the numbers that scikit-learn's Pipeline makes of a table; see testdata/pipeline.py.
type golden struct {
	Fills     map[string]any        `json:"fills"`
	Scales    map[string][2]float64 `json:"scales"` // mean and deviation, by column
	Rows      [][]float64           `json:"rows"`
	Decisions []float64             `json:"decisions"`
	Classes   []string              `json:"classes"`
}

func readGolden(t *testing.T, name string) golden {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(all[name], &g); err != nil || len(g.Decisions) == 0 {
		t.Fatalf("%s: %v", name, err)
	}
	return g
}

// dirty are twelve tables with one kind of dirt each, and what their owner and a job say of them.
var dirty = []struct {
	name   string
	file   string
	schema Schema
	own    Mapping
}{
	{name: "empty", schema: Schema{{Name: "creatinine", Range: [2]float64{0, 1000}, Missing: FillMean}, age}},
	{name: "na", own: Mapping{CSV: CSV{Missing: []string{"NA", "-9"}}}, schema: Schema{
		{Name: "creatinine", Range: [2]float64{0, 1000}, Missing: FillMedian}, {Name: "age", Range: [2]float64{0, 120}, Missing: FillMean}}},
	{name: "sex", schema: Schema{sex, age}},
	{name: "smoker", schema: Schema{{Name: "smoker", Type: Category, Categories: []string{"current", "former", "never", "pipe"}, Missing: FillMostFrequent}, creatinine}},
	{name: "stage", schema: Schema{{Name: "stage", Type: Category, Categories: []string{"I", "II", "III"}, Ordered: true}, age}},
	{name: "date", schema: Schema{{Name: "admitted", Type: Date, Format: "%Y-%m-%d", As: Year, Range: [2]float64{2000, 2030}}, age}},
	{name: "comma", own: Mapping{CSV: CSV{Delimiter: ";", Decimal: ","}}, schema: Schema{creatinine, age}},
	{name: "latin", schema: Schema{sex, creatinine, age}, own: Mapping{CSV: CSV{Encoding: "windows-1252"}, Drop: []string{"raucher"}, Columns: map[string]Theirs{
		"kunde": {As: "patient"}, "alter": {As: "age"}, "geschlecht": {As: "sex", Values: map[string]string{"w": "F", "m": "M"}},
		"kreatinin (µmol)": {As: "creatinine"}, "befund": {As: "diagnosis", Values: map[string]string{"krank": "ill", "gesund": "well"}}}}},
	{name: "unit", own: Mapping{Columns: map[string]Theirs{"creatinine": {Unit: "mg/dL", Times: 88.42}}}, schema: Schema{
		{Name: "creatinine", Unit: "umol/L", Range: [2]float64{1, 3000}, Transform: Log}, age}},
	{name: "bom", own: Mapping{CSV: CSV{Delimiter: "\t"}}, schema: Schema{age, creatinine}},
	{name: "indicator", schema: Schema{{Name: "creatinine", Range: [2]float64{1, 1000}, Missing: FillMean, Indicator: true, Transform: Log}, age}},
	{name: "boolean", schema: Schema{{Name: "smoker", Type: Boolean, True: []string{"yes"}, False: []string{"no"}},
		{Name: "age", Range: [2]float64{0, 120}, Outside: OutsideMissing, Missing: FillMean}}},
}

var (
	age        = Column{Name: "age", Range: [2]float64{0, 120}}
	creatinine = Column{Name: "creatinine", Range: [2]float64{0, 1000}}
	sex        = Column{Name: "sex", Type: Category, Categories: []string{"F", "M"}}
)

func readDirty(t *testing.T, name string, schema Schema, own Mapping) (*dataset.Set, *Frame) {
	t.Helper()
	schema = append(Schema{}, schema...)
	for i := range schema {
		if err := schema[i].Check(); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join("testdata", name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	records, err := dataset.OpenCSV(name, f, own.Form())
	if err != nil {
		t.Fatal(err)
	}
	set, err := Read(records, Table{Name: name, Schema: schema, Mapping: own, Label: "diagnosis", ID: IDRule{Columns: []string{"patient"}}})
	if err != nil {
		t.Fatal(err)
	}
	return set, set.X.(*Frame)
}

// fitTogether fits by the sums of several parties.
func fitTogether(t *testing.T, f *Frame, scaling Scaling, parties int) *Preparation {
	t.Helper()
	plan, err := NewPlan(f.Schema(), scaling)
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]int64, plan.Entries())
	for party := range parties {
		var rows []int
		for i := party; i < f.Rows(); i += parties {
			rows = append(rows, i)
		}
		own, err := plan.Vector(f, rows)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range own {
			if v < 0 || v > EntryTop {
				t.Fatalf("entry %d of a party is %d", k, v)
			}
			sum[k] += v
		}
	}
	made, err := plan.Fit(sum)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Of twelve dirty tables the prepared rows and an SVC's decisions are scikit-learn's, fitted alone
// and by sums; a median by sums is within one part of the range.
func TestTwelveTablesAreScikitLearns(t *testing.T) {
	for _, d := range dirty {
		t.Run(d.name, func(t *testing.T) {
			want := readGolden(t, d.name)
			set, frame := readDirty(t, d.name, d.schema, d.own)
			alone, err := FitAlone(frame, linalg.Range(0, frame.Rows()), Standard)
			if err != nil {
				t.Fatal(err)
			}
			parties := 3
			if d.name == "indicator" {
				parties = 2 // of three, two would have nine gaps, which an indicator must not show
			}
			together := fitTogether(t, frame, Standard, parties)
			checkFits(t, alone, want, 0)
			checkFits(t, together, want, 1)
			checkDecisions(t, alone, set, want)
			if d.name != "na" { // its median differs, and with it everything
				checkDecisions(t, together, set, want)
			}
		})
	}
}

// checkFits compares fills and scales; medians may be off by that number of parts of the range.
func checkFits(t *testing.T, p *Preparation, want golden, parts float64) {
	t.Helper()
	for j, c := range p.schema {
		near := 1e-9
		if c.Missing == FillMedian {
			near += parts * (c.Range[1] - c.Range[0]) / Bins
		}
		switch fill := want.Fills[c.Name].(type) {
		case float64:
			if math.Abs(p.columns[j].fill-fill) > near*max(1, math.Abs(fill)) {
				t.Errorf("%s is filled with %v, scikit-learn %v", c.Name, p.columns[j].fill, fill)
			}
		case string:
			if got := p.columns[j].categories[int(p.columns[j].fill)]; got != fill {
				t.Errorf("%s is filled with %s, scikit-learn %s", c.Name, got, fill)
			}
		}
		scale, scaled := want.Scales[c.Name]
		if !scaled || near > 1e-6 {
			continue
		}
		k := slices.Index(p.Names(), c.Name)
		if math.Abs(p.Offset[k]-scale[0]) > 1e-9*math.Abs(scale[0]) || math.Abs(1/p.Factor[k]-scale[1]) > 1e-9*scale[1] {
			t.Errorf("%s has mean %v and deviation %v, scikit-learn %v", c.Name, p.Offset[k], 1/p.Factor[k], scale)
		}
	}
}

// checkDecisions compares prepared rows and the decisions of an SVC on all rows.
func checkDecisions(t *testing.T, p *Preparation, set *dataset.Set, want golden) {
	t.Helper()
	table, err := p.Apply(set.X.(*Frame))
	if err != nil {
		t.Fatal(err)
	}
	x := table.Matrix()
	for i := range x.Rows {
		for k := range x.Cols {
			x.Row(i)[k] = (x.Row(i)[k] - p.Offset[k]) * p.Factor[k]
		}
	}
	for i, row := range want.Rows {
		for k, v := range row {
			if math.Abs(x.Row(i)[k]-v) > 1e-9 {
				t.Fatalf("row %d, column %s is %v, scikit-learn %v", i, p.Names()[k], x.Row(i)[k], v)
			}
		}
	}
	classes, codes := dataset.Classes(set.Labels)
	if len(classes) != 2 || classes[0] != want.Classes[0] {
		t.Fatalf("classes %v, scikit-learn %v", classes, want.Classes)
	}
	decisions := decide(t, x, codes, classes)
	for i, v := range want.Decisions {
		if math.Abs(-decisions[i]-v) > 1e-6 { // scikit-learn's sign is for the second class
			t.Fatalf("row %d is decided by %v, scikit-learn %v", i, -decisions[i], v)
		}
	}
}

// decide trains an SVC on all rows and decides them.
func decide(t *testing.T, x linalg.Matrix[float64], codes []int, classes []string) []float64 {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	params := svm.DefaultParams()
	params.C, params.Tol = 1, 1e-10
	c, err := svm.TrainSVC(kernel.Of(kernel.LinearGram(x), k), codes, classes, params, nil)
	if err != nil {
		t.Fatal(err)
	}
	vectors := linalg.New[float64](len(c.Support()), x.Cols)
	for a, i := range c.Support() {
		copy(vectors.Row(a), x.Row(i))
	}
	cross := kernel.CrossGram(x, vectors)
	kernel.Cross(k, cross, kernel.SquaredNorms(x), kernel.SquaredNorms(vectors))
	return c.Decisions(cross).Data
}

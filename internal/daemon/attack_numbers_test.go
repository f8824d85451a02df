package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/edition"
)

// A withdrawal after a slip in the entry erases no edition of numbers: jobs need it, though nobody
// has approved it, and without it nobody knows who goes along.
func TestAttackAWithdrawalErasesTheEditionOfNumbers(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	if _, err := sees(t, h, c, key, 1); err != nil {
		t.Fatal(err)
	}
	entered(t, h, c, func(e *Source) { e.CSV.Decimal = "," })
	if done, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p7"}); err == nil {
		t.Errorf("erased %d editions, %d go along", len(done.Erased), done.Company)
	}
	entered(t, h, c, func(e *Source) { e.CSV.Decimal = "" })
	if done, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{"p7"}); err != nil || done.Company != 9 {
		t.Errorf("%d go along, %v", done.Company, err)
	}
	if after, err := sees(t, h, c, key, 2); err != nil || after.Edition.Number != 2 {
		t.Errorf("jobs after the entry is put back: %v", err)
	}
}

// plainly reads as jobs did before editions.
func plainly(h Home, c *Config, data job.Data) (method.Table, error) {
	s, err := c.source(h, data.Source)
	if err != nil {
		return method.Table{}, err
	}
	columns, err := s.pickColumns(data.Source, data, c.Name)
	if err != nil {
		return method.Table{}, err
	}
	set, err := s.load(catalogue.New(""), columns, data)
	return method.Table{Set: set}, err
}

// Tables that jobs read before, and as editions.
func TestTablesOfNumbersReadAsBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	long := func(more func(i int) string, head string) string {
		lines := []string{"id,age,krea,ill" + head}
		for i := range 200 {
			lines = append(lines, fmt.Sprintf("p%d,%d,%g,%d%s", i, 20+i*7%60, float64(i*i%97)/8, i%2, more(i)))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for name, one := range map[string]struct {
		table string
		edit  func(*Source)
		data  func(*job.Data)
	}{
		"another label is not in the file": {numbersTable(200), func(s *Source) { s.Label = Labels{Columns: []string{"ill", "dead"}} }, nil},
		"words that are not offered":       {long(func(i int) string { return ",word" }, ",note"), func(s *Source) { s.Columns.Offered = []string{"age", "krea"} }, nil},
		"gaps that are not offered":        {long(func(i int) string { return "," }, ",note"), func(s *Source) { s.Columns.Offered = []string{"age", "krea"} }, nil},
		"gaps in the label":                {strings.Replace(numbersTable(200), ",1\n", ",\n", 1), nil, func(d *job.Data) { d.Label = job.NoLabel }},
		"ids twice":                        {strings.Replace(numbersTable(200), "\np7,", "\np8,", 1), nil, nil},
		"ids twice by columns":             {strings.Replace(numbersTable(200), "\np7,", "\np8,", 1), nil, func(d *job.Data) { d.Partition.By = job.Columns }},
		"empty id":                         {strings.Replace(numbersTable(200), "\np7,", "\n,", 1), nil, nil},
		"id by rule":                       {numbersTable(200), func(s *Source) { s.ID.Normalize = []string{"trim", "upper"} }, nil},
		"id of two columns":                {long(func(i int) string { return ",w" }, ",last"), func(s *Source) { s.ID.Columns = []string{"id", "last"} }, nil},
		"group":                            {long(func(i int) string { return fmt.Sprintf(",g%d", i/2) }, ",ward"), func(s *Source) { s.Group = "ward" }, nil},
		"cut":                              {long(func(i int) string { return fmt.Sprintf(",2024-01-%02d", 1+i%28) }, ",day"), func(s *Source) { s.Cut = "day" }, nil},
		"label of words":                   {strings.NewReplacer(",1\n", ",yes\n", ",0\n", ",no\n").Replace(numbersTable(200)), nil, nil},
		"columns in quotes":                {strings.Replace(numbersTable(200), "id,age,krea,ill", "id,\"age, years\",krea,ill", 1), nil, nil},
		"no label by columns":              {numbersTable(200), nil, func(d *job.Data) { d.Label = job.NoLabel; d.Partition.By = job.Columns }},
		"no feature": {"id,ill\n" + func() (s string) {
			for i := range 200 {
				s += fmt.Sprintf("p%d,%d\n", i, i%2)
			}
			return
		}(), nil, func(d *job.Data) { d.Partition.By = job.Columns }},
		"large numbers":               {strings.Replace(numbersTable(200), ",1.125,", ",1e200,", 1), nil, nil},
		"column twice":                {strings.Replace(numbersTable(200), "id,age,krea,ill", "id,age,age,ill", 1), nil, nil},
		"unnamed column":              {strings.Replace(numbersTable(200), "id,age,krea,ill", "id,,krea,ill", 1), nil, nil},
		"column with spaces":          {strings.Replace(numbersTable(200), "id,age,krea,ill", "id, age ,krea,ill", 1), nil, nil},
		"keep":                        {long(func(i int) string { return ",word" }, ",note"), func(s *Source) { s.Keep = []string{"id", "age", "krea", "ill"} }, nil},
		"renamed":                     {long(func(i int) string { return ",word" }, ",note"), nil, nil},
		"id is a feature name":        {numbersTable(200), func(s *Source) { s.ID = job.OwnID{}; s.Drop = []string{"id"} }, nil},
		"a label that is a feature's": {numbersTable(200), func(s *Source) { s.Label = Labels{Columns: []string{"ill", "krea"}} }, nil},
		"semicolons":                  {strings.ReplaceAll(numbersTable(200), ",", ";"), func(s *Source) { s.CSV.Delimiter = ";" }, nil},
	} {
		h, c, key := undescribed(t, one.table)
		if one.edit != nil {
			entered(t, h, c, one.edit)
		}
		data := job.Data{Source: "patients", Label: "ill", Test: job.Test{Fraction: 0.25}}
		if one.data != nil {
			one.data(&data)
		}
		before, was := plainly(h, c, data)
		now, is := h.load(context.Background(), c, data, key, snapshots{h.kept(t), job.ID{1}})
		switch {
		case (was == nil) != (is == nil):
			t.Errorf("%s: before %v, by an edition %v", name, was, is)
		case was != nil:
			t.Logf("%s: neither (%v) (%v)", name, was, is)
		default:
			a, b := before.Set, now.Set
			if a.X.Rows() != b.X.Rows() || !slices.Equal(a.Columns, b.Columns) || !slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.IDs, b.IDs) {
				t.Errorf("%s: %d rows of %v before, %d of %v now", name, a.X.Rows(), a.Columns, b.X.Rows(), b.Columns)
			}
			x, y := make([]float64, a.X.Cols()), make([]float64, a.X.Cols())
			for i := range a.X.Rows() {
				if a.X.Row(i, x); !slices.Equal(x, b.X.Row(i, y)) {
					t.Errorf("%s: row %d is %v, was %v", name, i, y, x)
					break
				}
			}
			t.Logf("%s: edition %d, %d rows", name, now.Edition.Number, b.X.Rows())
		}
	}
}

// A table of many rows is not seen as it is, though few people have them or few rows are after a
// bound.
func TestAttackLargeTablesAreSeenAsTheyAre(t *testing.T) {
	rows := func(n, wards int) string {
		lines := []string{"id,age,krea,ill,ward,day"}
		for i := range n {
			day := "2023-05-01"
			if i >= n-5 {
				day = "2024-02-01"
			}
			lines = append(lines, fmt.Sprintf("p%d,%d,%g,%d,g%d,%s", i, 20+i*7%60, float64(i*i%97)/8, i%2, i%wards, day))
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for name, edit := range map[string]func(*Source){
		"twenty wards":               func(s *Source) { s.Group = "ward"; s.Drop = []string{"day"} },
		"five rows after a bound":    func(s *Source) { s.Cut, s.CutDates, s.Drop = "day", []string{"2024-01-01"}, []string{"ward"} },
		"a bound after all the rows": func(s *Source) { s.Cut, s.CutDates, s.Drop = "day", []string{"2025-01-01"}, []string{"ward"} },
	} {
		h, c, key := undescribed(t, rows(1000, 20))
		entered(t, h, c, edit)
		for n := range 2 {
			h.put(t, "patients.csv", rows(1000+n, 20))
			seen, err := sees(t, h, c, key, byte(n))
			if err == nil && seen.Edition.Number == 0 {
				t.Errorf("%s: %d rows as they are", name, len(seen.Set.IDs))
			}
		}
	}
}

// One person's creatinine changes between the editions of two dictionaries, and a column comes that
// only one reads: it is nobody's change, and no company.
func TestAttackANewColumnHidesAChange(t *testing.T) {
	for _, gains := range []bool{false, true} {
		h, c, key := undescribed(t, numbersTable(200))
		if _, err := sees(t, h, c, key, 1); err != nil {
			t.Fatal(err)
		}
		d, err := job.ParseDictionary("cohort.yaml", []byte("apiVersion: mercer/v1\nkind: Dictionary\nmetadata: {name: cohort}\nspec: {columns: {age: {}, krea: {}}, labels: {ill: {}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(numbersTable(200)), "\n")
		lines[1+3] = "p3,41,99,1"
		for i := range lines {
			switch {
			case gains && i == 0:
				lines[i] += ",bmi"
			case gains:
				lines[i] += ",20"
			}
		}
		h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
		var few *edition.LackError
		if _, err = h.Freeze(context.Background(), all.Reader(), d, "patients"); !errors.As(err, &few) {
			t.Errorf("a new column %v: editions of two dictionaries differ by one cell (%v)", gains, err)
		}
	}
}

// The order of an entry's labels says nothing of a table.
func TestLabelsInAnotherOrder(t *testing.T) {
	h, c, key := undescribed(t, strings.NewReplacer("ill\n", "ill,later\n", ",0\n", ",0,1\n", ",1\n", ",1,2\n").Replace(numbersTable(200)))
	entered(t, h, c, func(e *Source) { e.Label = Labels{Columns: []string{"ill", "later"}} })
	if _, err := sees(t, h, c, key, 1); err != nil {
		t.Fatal(err)
	}
	entered(t, h, c, func(e *Source) { e.Label = Labels{Columns: []string{"later", "ill"}} })
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); err != nil {
		t.Errorf("the same labels in another order: %v", err)
	}
}

// A patient with fifty rows leaves a table of twenty patients and a thousand rows. Two jobs by
// sums, before and after, would reveal that patient's rows, and a ledger that knows rows by their
// ids counts them as fifty people's.
func TestAttackAPatientOfManyRowsLeaves(t *testing.T) {
	lines := []string{"id,age,krea,ill,patient"}
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("r%d,%d,%g,%d,g%d", i, 20+i*7%60, float64(i*i%97)/8, i/20%2, i%20))
	}
	for _, how := range []string{"withdraws", "is gone from the file"} {
		h, c, key := undescribed(t, strings.Join(lines, "\n")+"\n")
		entered(t, h, c, func(s *Source) { s.Group = "patient" })
		before, err := sees(t, h, c, key, 1)
		switch {
		case err != nil && strings.Contains(err.Error(), "has no edition of the table for dictionary numbers yet"):
			continue // nothing is told
		case err != nil || before.Edition.ID == "":
			t.Errorf("a patient %s: the table is seen as it is, or not for another reason: %v", how, err)
			continue
		}
		sums := func(tab method.Table, model string) method.Release {
			r := sumsOf(t, tab, job.OfNumbers(), "ill", true, model)
			r.Schema = ""
			if r.Among, _, err = key.Split(tab.Set, 0.25); err != nil {
				t.Fatal(err)
			}
			return r
		}
		a := sums(before, "a")
		who := before.Set.Groups[a.Among[0]]
		if how == "withdraws" {
			if _, err := h.Withdraw(t.Context(), all.Reader(), "patients", []string{who}); err != nil {
				t.Fatal(err)
			}
		} else {
			h.put(t, "patients.csv", strings.Join(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasSuffix(l, ","+who) }), "\n")+"\n")
		}
		after, err := sees(t, h, c, key, 2)
		if err != nil || after.Edition.ID != "" && after.Edition.ID == before.Edition.ID {
			continue // by chance ten patients are held out, and the table is frozen
		}
		if b := sums(after, "b"); bothPass(t, a, b) == nil {
			t.Errorf("a patient %s: sums over %d and %d training rows differ by %s alone, and both pass", how, len(a.Among), len(b.Among), who)
		}
	}
}

// The columns of a file in another order.
func TestColumnsInAnotherOrder(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	if _, err := sees(t, h, c, key, 1); err != nil {
		t.Fatal(err)
	}
	lines := []string{"id,krea,age,ill"}
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("p%d,%g,%d,%d", i, float64(i*i%97)/8, 20+i*7%60, i%2))
	}
	h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
	if _, err := h.Freeze(context.Background(), all.Reader(), job.OfNumbers(), "patients"); err != nil {
		t.Errorf("the same columns in another order: %v", err)
	}
}

// A column is added. Jobs without a dictionary continue with the earlier edition, and questions
// about their models read the file without the column.
func TestQuestionsAfterANewColumn(t *testing.T) {
	h, c, key := undescribed(t, numbersTable(200))
	trained, err := sees(t, h, c, key, 1)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(numbersTable(220)), "\n")
	for i := range lines {
		if i == 0 {
			lines[i] += ",bmi"
		} else {
			lines[i] += ",20"
		}
	}
	h.put(t, "patients.csv", strings.Join(lines, "\n")+"\n")
	if again, err := sees(t, h, c, key, 2); err != nil || !slices.Equal(again.Set.Columns, trained.Set.Columns) {
		t.Errorf("a job: %v, %v", again.Set, err)
	}
	asked, err := h.load(context.Background(), c, job.Data{Source: "patients", Label: job.NoLabel, Partition: job.Partition{By: job.Columns}}, key, snapshots{h.kept(t), job.ID{3}})
	if err == nil {
		_, err = method.LikeTraining(asked.Set, trained.Set.X.Cols(), trained.Set.Columns)
	}
	if err != nil {
		t.Errorf("a question: %v", err)
	}
}

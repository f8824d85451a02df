package prepare

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
	"github.com/mercer-fl/mercer/linalg"
)

// Table describes a table to be read.
type Table struct {
	Name    string // name of the table in messages
	Answer  bool   // whether Name is the file of a query; the table that it returns has rows and no lines
	Schema  Schema // if nil, all columns without another use hold numbers without gaps
	Mapping Mapping
	Label   string // column of the labels by the federation's name, "" for none
	ID      IDRule // rule for the ids; without columns, there are no ids
	Group   string // column of the groups by the federation's name, "" for none
	Cut     string // column that decides which rows are held out, "" for none
	Weight  string // column of the rows' weights by the federation's name, "" for none
	// Weights is the range of the weights; zero for any number.
	Weights [2]float64
	Gaps    bool // whether labels are allowed to be missing; a missing label is ""
	// Labelled are columns of labels in which each row needs a value: a row with a gap in one of
	// them is left out, and its other cells are not parsed.
	Labelled []string
	// Classes are the allowed labels; nil allows all.
	Classes []string
	Aside   []string
	// Features lists the feature columns of a table without a schema, in the file's order. If
	// Features is nil, all columns without another use are features.
	Features []string
	// New marks rows to predict, which can lack columns of the training table other than features:
	// Mapping then describes or drops columns that the table need not have. Each row needs a
	// prediction, so an empty cell is refused in a column where training leaves out rows with a gap.
	New bool
	// Absent allows a table to lack columns if the schema fills their gaps. Each cell of such a
	// column then counts as a gap.
	Absent bool
}

// Read reads a table row by row. Cells of columns that the table's description does not use are
// never parsed. Errors about the table are *dataset.SyntaxError; those about a row have its line. Errors of
// from are returned unchanged.
func Read(from dataset.Records, t Table) (*dataset.Set, error) {
	r, err := t.open(from)
	if err != nil {
		return nil, err
	}
	if err := t.eachRow(from, r.add); err != nil {
		return nil, err
	}
	if r.frame.rows == 0 {
		return nil, t.refuse(0, r.errNoRows())
	}
	return r.set(), nil
}

// open returns a reader of the records that reads no more columns than it needs.
func (t Table) open(from dataset.Records) (*reader, error) {
	r, err := t.reader(from.Columns())
	if err != nil {
		return nil, t.refuseColumns(err)
	}
	if some, can := from.(dataset.ColumnSelector); can {
		if err := some.Choose(r.neededColumns()); err != nil {
			return nil, t.refuse(0, err)
		}
	}
	return r, nil
}

// People calls use, for each row, with the name of the person that the row is about, in the order of
// the records. The name is the cell of the group column or, without a group column, the id. It does
// not call use for a table that has neither. It does not look for equal ids.
func (t Table) People(from dataset.Records, use func(name string)) error {
	t.Schema, t.Label, t.Labelled, t.Cut, t.Weight = Schema{}, "", nil, "", ""
	r, err := t.reader(from.Columns())
	if err != nil {
		return t.refuseColumns(err)
	}
	r.firstID = nil
	return t.eachRow(from, func(row dataset.Record) error {
		r.keys, r.groups = r.keys[:0], r.groups[:0]
		err := errors.Join(r.addID(row), r.addBeside(row.Fields))
		names := r.keys
		if t.Group != "" {
			names = r.groups
		}
		if err == nil && len(names) == 1 {
			use(names[0])
		}
		return err
	})
}

// eachRow calls the function add for every row of the table.
func (t Table) eachRow(from dataset.Records, add func(dataset.Record) error) error {
	for {
		row, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := add(row); err != nil {
			return t.refuseRow(row, err)
		}
	}
}

// refuseRow returns an error about a row, with the name of its own file if there are several.
func (t Table) refuseRow(row dataset.Record, err error) error {
	if row.File != "" {
		t.Name = row.File
	}
	return t.refuse(row.Line, err)
}

// refuseColumns returns an error about the names of the columns, which stand in the first line of a text.
func (t Table) refuseColumns(err error) error {
	if t.Answer {
		return t.refuse(0, err)
	}
	return t.refuse(1, err)
}

func (t Table) refuse(line int, err error) error {
	return &dataset.SyntaxError{Name: t.Name, Line: line, Err: err, Answer: t.Answer}
}

// reader collects the rows of a table.
type reader struct {
	Table
	features []field // for each column of the schema, the column of the file
	label    field
	labelled []field
	group    field
	cut      field
	weight   field
	ids      []int    // indices of the id's columns; empty without ids
	absent   []string // columns of the schema that the table lacks
	frame    *Frame
	places   []map[string]float64 // for each column with agreed categories, the code of each word
	folded   []map[string]string  // for each column, its categories by their folded forms; nil until needed
	missing  map[string]bool
	numbers  dataset.NumberForm // form of the text's numbers
	plain    bool               // whether the table has no schema

	unlabelled int // number of rows left out because they lack a label
	labels     []string
	forms      map[string]string // canonical form of each label, so that the name of each class is stored once
	keys       []string
	groups     []string
	cuts       []string
	weights    []float64
	lines      []int
	firstID    map[string]int // line of each id; nil if equal ids are not looked for
	cells      []float64
	id         []string
}

// field is a column of the file.
type field struct {
	at     int // index of the column; -1 for none
	own    string
	theirs Theirs
}

// reader returns a reader of a table with the given columns.
func (t Table) reader(columns []string) (*reader, error) {
	if t.New {
		t.Mapping = t.Mapping.of(columns)
	}
	names, err := t.Mapping.federationNames(columns)
	if err != nil {
		return nil, err
	}
	r := &reader{Table: t, numbers: t.Mapping.CSV.Numbers(), missing: map[string]bool{"": true}, forms: make(map[string]string), firstID: make(map[string]int)}
	for _, word := range t.Mapping.CSV.Missing {
		r.missing[word] = true
	}
	if r.plain = r.Schema == nil; r.plain {
		if r.Schema, err = t.allNumbers(names); err != nil {
			return nil, err
		}
	}
	find := func(name, what string) (field, error) { return t.find(columns, names, name, what) }
	for _, c := range r.Schema {
		f, err := r.feature(columns, names, c)
		if err != nil {
			return nil, err
		}
		r.features = append(r.features, f)
	}
	for _, beside := range []struct {
		name, what string
		field      *field
	}{
		{t.Label, " to take the labels from", &r.label}, {t.Group, " to take the groups from", &r.group}, {t.Cut, " to hold later rows out by", &r.cut},
		{t.Weight, " to take the weights from", &r.weight},
	} {
		beside.field.at = -1
		if beside.name == "" {
			continue
		}
		if *beside.field, err = find(beside.name, beside.what); err != nil {
			return nil, err
		}
	}
	for _, name := range t.Labelled {
		f, err := find(name, " to take the labels from")
		if err != nil {
			return nil, err
		}
		r.labelled = append(r.labelled, f)
	}
	if r.ids, err = t.idColumns(columns, find); err != nil {
		return nil, err
	}
	r.begin()
	return r, nil
}

// idColumns returns the indices of the columns of the id rule, which can name a column as the file does.
func (t Table) idColumns(columns []string, find func(name, what string) (field, error)) (places []int, err error) {
	for _, name := range t.ID.Columns {
		at := slices.Index(columns, name)
		if at < 0 {
			f, err := find(name, " to take the ids from")
			if err != nil {
				return nil, err
			}
			at = f.at
		}
		places = append(places, at)
	}
	return places, nil
}

// neededColumns lists the indices of the columns that the table uses.
func (r *reader) neededColumns() []int {
	places := slices.Clone(r.ids)
	for _, f := range r.features {
		if f.at >= 0 {
			places = append(places, f.at)
		}
	}
	for _, beside := range append([]field{r.label, r.group, r.cut, r.weight}, r.labelled...) {
		if beside.at >= 0 {
			places = append(places, beside.at)
		}
	}
	return places
}

func (r *reader) begin() {
	r.frame = newFrame(r.Schema)
	r.frame.Absent, r.frame.Outside = r.absent, make([]int, len(r.Schema))
	r.cells = make([]float64, len(r.Schema))
	r.id = make([]string, len(r.ids))
	r.places = make([]map[string]float64, len(r.Schema))
	r.folded = make([]map[string]string, len(r.Schema))
	for _, j := range r.Schema.Agrees() {
		r.places[j] = make(map[string]float64)
	}
}

// allNumbers returns the schema of a table without a schema: all features are numbers. A column
// that the file does not name is no feature.
func (t Table) allNumbers(names []string) (Schema, error) {
	if t.Features != nil {
		return t.schemaOfListed(names)
	}
	var features []string
	for _, name := range names {
		if name != "" && !dataset.IsUnnamed(name) && name != t.Label && !slices.Contains(t.Labelled, name) && name != t.Group && name != t.Cut && name != t.Weight && !slices.Contains(t.ID.Columns, name) && !slices.Contains(t.Aside, name) {
			features = append(features, name)
		}
	}
	if len(features) == 0 {
		return nil, errors.New("there are no feature columns; give at least one")
	}
	return Numbers(features), nil
}

// schemaOfListed returns a schema in which the columns of Features hold numbers.
func (t Table) schemaOfListed(names []string) (Schema, error) {
	var features []string
	for _, name := range names {
		if slices.Contains(t.Features, name) {
			features = append(features, name)
		}
	}
	for _, name := range t.Features {
		if !slices.Contains(names, name) {
			return nil, dataset.NoColumn(name, "there is no column %s", dataset.Quote(name))
		}
	}
	return Numbers(features), nil
}

// lacksLabel reports whether a row has no value in a column in which each row needs one.
func (r *reader) lacksLabel(row dataset.Record) bool {
	return slices.ContainsFunc(r.labelled, func(f field) bool { return r.missing[f.word(row.Fields)] })
}

// add reads one row.
func (r *reader) add(row dataset.Record) error {
	if r.lacksLabel(row) {
		r.unlabelled++
		return nil
	}
	for j := range r.features {
		var err error
		if r.cells[j], err = r.cell(j, row.Fields); err != nil {
			return err
		}
	}
	for j, c := range r.Schema {
		if c.Missing == FillDropRow && isGap(r.cells[j]) {
			r.frame.Dropped++
			return nil
		}
	}
	if r.frame.rows >= dataset.MaxCells/len(r.Schema) {
		return fmt.Errorf("the table has more than %d cells; split it", dataset.MaxCells)
	}
	if err := r.addLabel(row); err != nil {
		return err
	}
	if err := r.addID(row); err != nil {
		return err
	}
	if err := r.addBeside(row.Fields); err != nil {
		return err
	}
	r.frame.add(r.cells)
	if row.File == "" { // a line does not tell which of several files it belongs to
		r.lines = append(r.lines, row.Line)
	}
	return nil
}

// cell returns the code of a feature's cell.
func (r *reader) cell(j int, fields []string) (float64, error) {
	c, f := &r.Schema[j], r.features[j]
	if f.at < 0 {
		return gap, nil
	}
	word := f.word(fields)
	if r.missing[word] {
		if c.filled() || c.Missing == FillDropRow && !r.New {
			return gap, nil
		}
		if c.Missing == FillDropRow {
			return 0, f.fault(word, errNoAnswer)
		}
		return 0, f.fault(word, errGap)
	}
	var v float64
	var err error
	if bare, cell := f.theirs.withoutUnit(word, c.Type), fields[f.at]; c.Type == Number && word != cell {
		v, err = f.theirs.mappedNumber(bare, r.numbers)
		word = cell
	} else {
		v, err = r.parse(j, bare)
	}
	if err == nil && c.Type == Number && f.theirs.Times != 0 {
		if v = f.theirs.convert(v); !isFinite(v) {
			err = fmt.Errorf("is too large after multiplication by %g; correct the cell, or the factor \"times\" in the catalogue", f.theirs.Times)
		}
	}
	if err == nil && (c.Type == Number || c.Type == Date) {
		if c.Ranged() && (v < c.Range[0] || v > c.Range[1]) {
			r.frame.Outside[j]++
		}
		v, err = c.treatOutside(v)
	}
	if err != nil {
		return 0, f.fault(word, err)
	}
	return v, nil
}

// parse returns the code of a word. Words of agreed categories get codes in the order in which
// they appear.
func (r *reader) parse(j int, word string) (float64, error) {
	places := r.places[j]
	if places == nil {
		theirs := r.features[j].theirs
		code, err := r.Schema[j].parse(word, theirs.numbers(r.numbers), theirs.Format)
		if err == nil && code == unseen && r.Schema[j].Type == Category {
			err = r.checkSpelling(j, word)
		}
		return code, err
	}
	if code, known := places[word]; known {
		return code, nil
	}
	if len(places) == maxWords {
		return 0, errWords(r.Schema[j])
	}
	code := float64(len(places))
	word = strings.Clone(word) // without the copy, the whole line would stay in memory
	places[word] = code
	r.frame.words[j] = append(r.frame.words[j], word)
	return code, nil
}

// checkSpelling refuses a word that differs from a category only by case, blanks or Unicode form.
// Otherwise such a word would silently count as an unknown word.
func (r *reader) checkSpelling(j int, word string) error {
	if r.folded[j] == nil {
		r.folded[j] = foldCategories(r.Schema[j].Categories)
	}
	category, spelled := r.folded[j][fuzzymatch.Fold(word)]
	if !spelled {
		return nil
	}
	return fmt.Errorf("differs from the category %q only by case, blanks or Unicode form; write values: {%q: %q} for the column in the catalogue", category, word, category)
}

// foldCategories returns the categories by their folded forms.
func foldCategories(categories []string) map[string]string {
	folded := make(map[string]string, len(categories))
	for _, c := range categories {
		folded[fuzzymatch.Fold(c)] = c
	}
	return folded
}

// errNoAnswer refuses an empty cell in a row to predict, in a column for which training leaves out rows with a
// gap.
var errNoAnswer = errors.New("is empty, and the job uses no row with a gap in this column; fill the cell, or remove the row from the new table")

var errGap = errors.New("is empty, but the schema does not allow gaps in this column; fill the cell, or add a fill such as \"missing: median\" to the schema")

// word returns the federation's word for a field.
func (f field) word(fields []string) string {
	word := fields[f.at]
	if mapped, known := f.theirs.Values[word]; known {
		return mapped
	}
	return word
}

// mappedNumber returns the number that the key "values" gives for a cell, in the file's form or with a
// decimal point.
func (t Theirs) mappedNumber(word string, form dataset.NumberForm) (float64, error) {
	form = t.numbers(form)
	file, err := form.Parse(word)
	plain, plainErr := pointed.Parse(word)
	switch {
	case err == nil && plainErr == nil && file != plain:
		return 0, fmt.Errorf("\"values\" turns into %s, which could be %g or %g; write the number without a sign between thousands", dataset.Quote(word), file, plain)
	case err == nil:
		return file, nil
	case plainErr == nil:
		return plain, nil
	}
	return 0, fmt.Errorf("\"values\" turns into %s, which is not a number; correct \"values\" in the catalogue", dataset.Quote(word))
}

// withoutUnit returns the number of a cell that repeats the column's unit, such as "5 %". A unit of signs, such as
// "-" for a number without dimension, stays, because it would be the sign of the number.
func (t Theirs) withoutUnit(word string, of Type) string {
	if t.Unit == "" || of != Number || strings.Trim(t.Unit, "+-\u2212") == "" {
		return word
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(word, t.Unit), t.Unit))
}

// fault returns an error that names the column and the cell.
func (f field) fault(word string, err error) error {
	if word == "" {
		return fmt.Errorf("column %s %w", dataset.Quote(f.own), err)
	}
	if word == f.own {
		return fmt.Errorf("column %s holds its own name, which %w; remove the line if it repeats the header", dataset.Quote(f.own), err)
	}
	return fmt.Errorf("column %s holds %s, which %w", dataset.Quote(f.own), dataset.Quote(word), err)
}

func (r *reader) addLabel(row dataset.Record) error {
	if r.label.at < 0 {
		return nil
	}
	word := r.label.theirs.withoutUnit(r.label.word(row.Fields), Number)
	switch {
	case r.missing[word] && r.Gaps:
		r.labels = append(r.labels, "")
		return nil
	case r.missing[word]:
		return r.label.fault(word, dataset.NoLabel(r.Label))
	}
	label, known := r.forms[word]
	if !known {
		var err error
		if label, err = dataset.CanonicalLabel(r.agreedForm(word)); err == nil {
			err = dataset.CheckClass(label, r.Classes)
		}
		if err != nil {
			return r.label.fault(word, err)
		}
		if len(r.forms) < maxWords {
			r.forms[strings.Clone(word)] = label
		}
	}
	r.labels = append(r.labels, label)
	return nil
}

// agreedForm rewrites a numeric label with a decimal point and in the agreed unit, whatever the form
// and the unit of the file's numbers. It returns other labels unchanged.
func (r *reader) agreedForm(word string) string {
	form, times := r.label.theirs.numbers(r.numbers), r.label.theirs.Times
	if form == pointed && times == 0 {
		return word
	}
	v, err := form.Parse(word)
	if err != nil {
		return word
	}
	if times != 0 {
		v = r.label.theirs.convert(v)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (r *reader) addID(row dataset.Record) error {
	if len(r.ids) == 0 {
		return nil
	}
	for i, at := range r.ids {
		if r.id[i] = row.Fields[at]; r.missing[r.id[i]] {
			return fmt.Errorf("id column %s is empty in this row; fill the cell or drop the row", dataset.Quote(r.ID.Columns[i]))
		}
	}
	id, at, err := r.ID.id(r.id)
	if err != nil {
		return fmt.Errorf("id column %s %w", dataset.Quote(r.ID.Columns[at]), err)
	}
	id = strings.Clone(id) // without the copy, the whole line would stay in memory
	if first, taken := r.firstID[id]; taken {
		return r.errRepeated(first)
	}
	if r.firstID != nil {
		r.firstID[id] = row.Line
	}
	r.keys = append(r.keys, id)
	return nil
}

// errRepeated refuses a row whose id a row has in an earlier line.
func (t Table) errRepeated(first int) error {
	place := "line"
	if t.Answer {
		place = "row"
	}
	return fmt.Errorf("the id is also in %s %d; keep one of the two rows", place, first)
}

// RepeatedID returns the error with which Read refuses the table if it has one id in two lines.
func (t Table) RepeatedID(first, second int) error { return t.refuse(second, t.errRepeated(first)) }

// errNoRows returns the error that explains why a table has no rows.
func (r *reader) errNoRows() error {
	switch unlabelled, dropped := r.unlabelled, r.frame.Dropped; {
	case unlabelled > 0 && dropped > 0:
		return fmt.Errorf("all rows are left out, %d without a label and %d with a gap; write in the schema how gaps are filled, or name another column of labels", unlabelled, dropped)
	case unlabelled > 0:
		return fmt.Errorf("all %d rows lack a label and are left out; name another column of labels", unlabelled)
	case dropped > 0:
		return fmt.Errorf("all %d rows have a gap and are dropped; write in the schema how gaps are filled", dropped)
	}
	return errors.New("there are no rows; give at least one")
}

// set makes a set of the rows that were read. Without a schema its cells are numbers already.
func (r *reader) set() *dataset.Set {
	s := &dataset.Set{Name: r.Name, Unlabelled: r.unlabelled, X: r.frame, Labels: r.labels, IDs: r.keys, Columns: r.Schema.Names(), Groups: r.groups, Cut: r.cuts, Weights: r.weights, Lines: r.lines}
	if r.plain {
		s.X = r.frame.Numbers()
	}
	return s
}

// errWords returns the error for a category column with too many different words.
func errWords(c Column) error {
	return fmt.Errorf("column %s has more than %d different words; a category has few: list its categories, or leave the column out of the schema", dataset.Quote(c.Name), maxWords)
}

// Numbers returns the cells as a dense table. The frame must have no gaps and no categories.
func (f *Frame) Numbers() *dataset.Dense {
	m := linalg.New[float64](f.Rows(), len(f.schema))
	for i := range f.Rows() {
		copy(m.Row(i), f.row(i))
	}
	return dataset.NewDense(m)
}

// isDropped reports whether the mapping leaves a column out.
func (m *Mapping) isDropped(name string) bool {
	return slices.Contains(m.Drop, name) || m.Keep != nil && !slices.Contains(m.Keep, name)
}

// of returns the mapping without the columns that the file lacks.
func (m Mapping) of(columns []string) Mapping {
	lacks := func(name string) bool { return !slices.Contains(columns, name) }
	m.Columns = maps.Clone(m.Columns)
	maps.DeleteFunc(m.Columns, func(name string, _ Theirs) bool { return lacks(name) })
	m.Drop, m.Keep = slices.DeleteFunc(slices.Clone(m.Drop), lacks), slices.DeleteFunc(slices.Clone(m.Keep), lacks)
	return m
}

// OwnName returns the file's name of a column of the federation.
func (m *Mapping) OwnName(name string) string {
	for own, theirs := range m.Columns {
		if theirs.As == name {
			return own
		}
	}
	return name
}

// federationNames returns the federation's names of the file's columns, "" for columns left out.
func (m *Mapping) federationNames(columns []string) ([]string, error) {
	for _, name := range slices.Sorted(maps.Keys(m.Columns)) {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("the catalogue describes column %s, which the table does not have; correct the name", dataset.Quote(name))
		}
	}
	for _, name := range slices.Concat(m.Drop, m.Keep) {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("the catalogue lists column %s under \"drop\" or \"keep\", but the table does not have it; correct the name", dataset.Quote(name))
		}
	}
	names := make([]string, len(columns))
	first := make(map[string]string)
	for i, name := range columns {
		if m.isDropped(name) {
			continue
		}
		names[i] = m.Columns[name].federationName(name)
		if other, taken := first[names[i]]; taken {
			return nil, fmt.Errorf("columns %s and %s are both called %s; drop one or rename it in the catalogue", dataset.Quote(other), dataset.Quote(name), dataset.Quote(names[i]))
		}
		first[names[i]] = name
	}
	return names, nil
}

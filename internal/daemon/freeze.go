package daemon

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/scratch"
	"github.com/mercer-fl/mercer/internal/catalogue/snapshot"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// freezing reads the copied rows of a table with a dictionary, block by block. It reads them once for
// each label that both the dictionary and the catalogue offer, or once without a label, all readings side by side.
type freezing struct {
	source     Source
	dictionary *job.Dictionary
	table      string
	key        dataset.SplitKey
	rows       snapshot.Store
	readings   []readingOf
	labels     int // number of labels, which is the number of readings, except that 0 labels have one reading
}

// readingOf is a reading of the rows with one label, or without a label.
type readingOf struct {
	data   job.Data
	stream method.Stream
}

// freezing prepares the readings of a table's rows.
func (h Home) freezing(c *Config, s Source, d *job.Dictionary, table string, key dataset.SplitKey, rows snapshot.Store) (*freezing, error) {
	f := &freezing{source: s, dictionary: d, table: table, key: key, rows: rows}
	data := d.Of(c.Name)
	data.Source = table
	if d.Columns == nil {
		schema, err := f.describe(c, data)
		if err != nil {
			return nil, err
		}
		data.Schema, data.Read = schema, schema
	}
	if len(s.CutDates) > 0 {
		data.Test = job.Test{Column: s.Cut, From: s.CutDates[0]}
	}
	if w, offered := s.describedWeight(d); offered {
		data.DescribeWeight(w)
	}
	labels := s.describedLabels(d)
	if f.labels = len(labels); f.labels == 0 {
		return f, f.addReading(c, data)
	}
	for _, l := range labels {
		one := data
		one.DescribeLabel(l)
		one.Spread = d.IsNumbers() // keep rows without a label, because each job decides whether to use them
		if err := f.addReading(c, one); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// describe returns a schema for rows whose dictionary describes no columns. Every column holds
// numbers, without gaps.
func (f *freezing) describe(c *Config, data job.Data) (prepare.Schema, error) {
	columns, err := f.source.pickColumns(data.Source, data, c.Name)
	if err != nil {
		return nil, err
	}
	head, err := headOf(f.source.blocks(f.rows, columns, data))
	if err != nil {
		return nil, err
	}
	return schemaOfNumbers(head.Columns)
}

// schemaOfNumbers returns a schema in which columns hold numbers.
func schemaOfNumbers(columns []string) (prepare.Schema, error) {
	schema := make(prepare.Schema, len(columns))
	for i, name := range slices.Sorted(slices.Values(columns)) { // sorted: the order in the file must not matter
		schema[i] = job.Undescribed(name)
	}
	return schema, schema.Check()
}

func (f *freezing) addReading(c *Config, data job.Data) error {
	columns, err := f.source.pickColumns(data.Source, data, c.Name)
	if err != nil {
		return err
	}
	f.readings = append(f.readings, readingOf{data, f.source.blocks(f.rows, columns, data)})
	return nil
}

// frozenBlock holds some rows of a table that is to be frozen.
type frozenBlock struct {
	before int          // number of rows in the blocks before this one
	set    *dataset.Set // the rows as the first reading returns them
	// labels holds the texts of each label column as they were read, and merged those texts as the dictionary
	// merges them. The last column of both is the weights, if there are any, because editions are
	// compared by weights in the same way as by labels.
	labels, merged [][]string
}

// each calls use with all rows, block by block. It returns the number of rows, and of those that were
// left out because they had no label. The operator sees the error of an unreadable label or weight
// now, instead of in a later job.
func (f *freezing) each(use func(*frozenBlock) error) (rows, unlabelled int, err error) {
	var open []method.StreamReader
	defer func() {
		for _, r := range open {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, reading := range f.readings {
		r, err := reading.stream()
		if err != nil {
			return 0, 0, err
		}
		open = append(open, r)
	}
	for {
		b, err := f.next(open, rows)
		switch {
		case errors.Is(err, io.EOF):
			return rows, unlabelled, nil
		case err != nil:
			return 0, 0, err
		}
		if err := use(b); err != nil {
			return 0, 0, err
		}
		rows, unlabelled = rows+b.set.X.Rows(), b.set.Unlabelled
	}
}

// next reads the next block, with all labels. It returns an error if one reading has fewer rows than another, and
// io.EOF once all readings have ended together.
func (f *freezing) next(open []method.StreamReader, before int) (*frozenBlock, error) {
	b := &frozenBlock{before: before}
	ended := 0
	for k, r := range open {
		set, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			ended++
			continue
		case err != nil:
			return nil, err
		case ended > 0:
			return nil, f.errDiffer()
		case k == 0:
			b.set = set
		case set.X.Rows() != b.set.X.Rows():
			return nil, f.errDiffer()
		}
		if f.labels == 0 {
			break
		}
		taken, err := f.readings[k].data.Take(set)
		if err != nil {
			return nil, err
		}
		b.labels, b.merged = append(b.labels, set.Labels), append(b.merged, taken.Labels)
	}
	switch {
	case ended == len(open):
		return nil, io.EOF
	case ended > 0:
		return nil, f.errDiffer()
	}
	if b.set.Weights != nil {
		texts := weightTexts(b.set.Weights)
		b.labels, b.merged = append(b.labels, texts), append(b.merged, texts)
	}
	return b, nil
}

func (f *freezing) errDiffer() error {
	return fmt.Errorf("the readings of table %s for its labels have different numbers of rows", f.table)
}

// holdsOut returns the rows of a block that every job with the same dictionary holds out, unless the job holds out a
// party or the rows after a bound. It chooses rows by their groups, their ids, or all cells that the dictionary reads,
// whatever columns and label a job uses. For a dictionary without columns, the cells are those that a simulated job
// reads, including the label if the catalogue offers exactly one.
func (f *freezing) holdsOut(b *frozenBlock) ([]int, error) {
	set := *b.set
	set.Labels = nil
	if f.dictionary.Columns == nil {
		set.X = set.X.(*prepare.Frame).Numbers()
		if f.labels == 1 {
			set.Labels = b.labels[0]
		}
	}
	_, held, err := f.key.Split(&set, f.dictionary.Fraction)
	return held, err
}

// late returns, for each of the entry's cut dates, the rows of a block from that date on.
func (f *freezing) late(b *frozenBlock) (late [][]int, err error) {
	for _, from := range f.source.CutDates {
		bound, err := dataset.ParseBound(from)
		if err != nil {
			return nil, err
		}
		rows, err := bound.FromRow(b.before, b.set.Cut)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", dataset.Quote(f.source.Cut), err)
		}
		late = append(late, rows)
	}
	return late, nil
}

// scratch returns a space for rows and digests, in the home's folder of editions.
func (h Home) scratch() (*scratch.Space, error) {
	if err := disk.MakeDir(h.editions()); err != nil {
		return nil, err
	}
	return scratch.New(h.editions())
}

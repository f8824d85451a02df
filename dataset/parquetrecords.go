package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset/internal/parquet"
	"github.com/mercer-fl/mercer/internal/base/date"
)

// ColumnSelector is implemented by [Records] that can skip columns.
type ColumnSelector interface {
	// Choose limits reading to the columns with the given indices. The fields of other columns are
	// empty. Choose refuses a column of an unsupported type. Call it at most once, before Next.
	Choose(places []int) error
	// Unreadable returns the reason why the column with the given index cannot be read, or nil. The
	// text of the reason goes after the name of the column.
	Unreadable(place int) error
}

// WithoutUnreadable returns the rows without the columns that cannot be read. Rows without such
// columns, and rows that are no [ColumnSelector], are returned unchanged.
func WithoutUnreadable(rows Records) (Records, error) {
	some, can := rows.(ColumnSelector)
	if !can {
		return rows, nil
	}
	r := &readableRecords{from: rows}
	for j, name := range rows.Columns() {
		if some.Unreadable(j) == nil {
			r.places, r.columns = append(r.places, j), append(r.columns, name)
		}
	}
	if len(r.places) == len(rows.Columns()) {
		return rows, nil
	}
	r.fields = make([]string, len(r.places))
	return r, some.Choose(r.places)
}

// readableRecords reads some columns of other records.
type readableRecords struct {
	from    Records
	places  []int
	columns []string
	fields  []string
}

// Columns implements [Records].
func (r *readableRecords) Columns() []string { return r.columns }

// Next implements [Records].
func (r *readableRecords) Next() (Record, error) {
	row, err := r.from.Next()
	if err != nil {
		return row, err
	}
	for i, j := range r.places {
		r.fields[i] = row.Fields[j]
	}
	row.Fields = r.fields
	return row, nil
}

// OpenParquet returns the rows of a parquet file as text. Numbers are decimal, booleans are 1 and
// 0, days have the form 2024-03-01, times the form 09:30:00, and timestamps in UTC the form
// 2024-03-01T09:30:00, without fractions of a second. Nulls and NaN are empty. The index that
// pandas adds is a column only if the list asked contains the name of the index. The reader holds
// in memory one page and one dictionary of each column that is read. Errors of OpenParquet and of Next are
// *SyntaxError; the line of an error is the row, from 1.
func OpenParquet(name string, r io.ReaderAt, size int64, asked []string) (Records, error) {
	return openParquet(name, r, size, asked, defaultLimits())
}

func openParquet(name string, r io.ReaderAt, size int64, asked []string, bounds limits) (*parquetRecords, error) {
	file, err := parquet.Open(r, size, parquet.Limits{Page: bounds.page})
	if err != nil {
		return nil, text(name).wrap(0, ofColumn(err))
	}
	p := &parquetRecords{text: text(name), file: file}
	for j, c := range file.Columns {
		if c.Name != pandasIndex || slices.Contains(asked, pandasIndex) {
			p.source, p.columns = append(p.source, j), append(p.columns, strings.TrimSpace(c.Name))
		}
	}
	switch {
	case len(p.columns) == 0:
		return nil, p.errorf(0, "there are no columns; give at least one feature")
	case len(p.columns) > bounds.columns:
		return nil, p.errorf(0, "the table has more than %d columns; split it", bounds.columns)
	}
	p.columns = nameUnnamed(p.columns)
	if err := checkNames(p.columns); err != nil {
		return nil, p.wrap(0, err)
	}
	p.fields = make([]string, len(p.columns))
	return p, nil
}

// parquetRecords reads the rows of a parquet file as text.
type parquetRecords struct {
	text
	file    *parquet.File
	source  []int // for each column, its index in the file
	columns []string
	read    []textColumn // columns to read; nil until Choose or Next
	fields  []string
	row     int
}

// textColumn is a column that is read as text.
type textColumn struct {
	place  int
	cursor *parquet.Cursor
	text   func([]byte) (string, error)
}

// Columns implements [Records].
func (p *parquetRecords) Columns() []string { return p.columns }

// Choose implements [ColumnSelector].
func (p *parquetRecords) Choose(places []int) error {
	p.read = []textColumn{}
	for _, b := range places {
		if slices.ContainsFunc(p.read, func(c textColumn) bool { return c.place == b }) {
			continue
		}
		read, err := p.textOf(b)
		if err != nil {
			return fmt.Errorf("column %s %w", quote(p.columns[b]), err)
		}
		p.read = append(p.read, textColumn{b, p.file.Cursor(p.source[b]), read})
	}
	return nil
}

// Unreadable implements [ColumnSelector].
func (p *parquetRecords) Unreadable(place int) error {
	_, err := p.textOf(place)
	return err
}

// textOf returns a function that writes the values of a column as text.
func (p *parquetRecords) textOf(place int) (func([]byte) (string, error), error) {
	if err := p.file.Fault(p.source[place]); err != nil {
		return nil, err
	}
	return textOf(p.file.Columns[p.source[place]])
}

// Next implements [Records].
func (p *parquetRecords) Next() (Record, error) {
	if p.read == nil {
		if err := p.Choose(places(len(p.columns))); err != nil {
			return Record{}, p.wrap(0, err)
		}
	}
	if p.row == p.file.Rows {
		return Record{}, io.EOF
	}
	p.row++
	for _, c := range p.read {
		value, null, err := c.cursor.Next()
		word := ""
		if err == nil && !null {
			word, err = c.text(value)
		}
		if err != nil {
			return Record{}, p.errorf(p.row, "column %s %w", quote(p.columns[c.place]), err)
		}
		p.fields[c.place] = strings.TrimSpace(word)
	}
	return Record{Line: p.row, Fields: p.fields}, nil
}

// places returns the numbers from 0 to n-1.
func places(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// textOf returns a function that writes a column's values as text.
func textOf(c parquet.Column) (func([]byte) (string, error), error) {
	switch {
	case c.Logical == "DATE" && c.Kind == parquet.Int32:
		return func(b []byte) (string, error) {
			return day(int64(int32(binary.LittleEndian.Uint32(b))))
		}, nil
	case c.Logical == "TIMESTAMP" && c.Kind == parquet.Int64 && c.Second > 0:
		return func(b []byte) (string, error) {
			return moment(floorDiv(int64(binary.LittleEndian.Uint64(b)), int64(c.Second)))
		}, nil
	case c.Kind == parquet.Int96 && c.Logical == "":
		return momentOf96, nil
	case c.Logical == "TIME" && c.Kind == parquet.Int32 && c.Second > 0:
		return func(b []byte) (string, error) {
			return timeOfDay(int64(int32(binary.LittleEndian.Uint32(b))) / int64(c.Second))
		}, nil
	case c.Logical == "TIME" && c.Kind == parquet.Int64 && c.Second > 0:
		return func(b []byte) (string, error) {
			return timeOfDay(int64(binary.LittleEndian.Uint64(b)) / int64(c.Second))
		}, nil
	}
	cell, err := newParquetCell(c, true)
	if err != nil {
		return nil, err
	}
	return func(b []byte) (string, error) {
		if cell.number != nil && (c.Kind == parquet.Float || c.Kind == parquet.Double || c.Logical == "FLOAT16") && math.IsNaN(cell.number(b)) {
			return "", nil
		}
		word, err := cell.label(b)
		if err != nil {
			err = fmt.Errorf("%w; correct the cell or drop the row", err)
		}
		return word, err
	}, nil
}

const secondsOfDay = 24 * 60 * 60

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// day formats a day, given in days since 1970. It refuses a year outside 0 to 9999.
func day(days int64) (string, error) {
	y, m, d := date.Of(days)
	if y < 0 || y > 9999 {
		return "", errors.New("is a day outside the years 0 to 9999; correct the cell or drop the row")
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d), nil
}

// moment formats a time, given in seconds since 1970.
func moment(seconds int64) (string, error) {
	days := floorDiv(seconds, secondsOfDay)
	word, err := day(days)
	s := seconds - days*secondsOfDay
	return fmt.Sprintf("%sT%02d:%02d:%02d", word, s/3600, s/60%60, s%60), err
}

// unixDay is the Julian day of 1970-01-01.
const unixDay = 2440588

// momentOf96 formats an INT96, the timestamps of Spark and Impala before version 3. It holds the
// nanoseconds of the day and the Julian day.
func momentOf96(b []byte) (string, error) {
	days := int64(binary.LittleEndian.Uint32(b[8:])) - unixDay
	return moment(days*secondsOfDay + floorDiv(int64(binary.LittleEndian.Uint64(b)), 1e9))
}

// timeOfDay formats a time, given in seconds since midnight.
func timeOfDay(s int64) (string, error) {
	if s < 0 || s >= secondsOfDay {
		return "", errors.New("is a time outside of a day; correct the cell or drop the row")
	}
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60), nil
}

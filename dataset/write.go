package dataset

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// WriteCSV writes s in the format of [ReadCSV]. The text has a header, a column "id" with the ids,
// the features (called x0, x1, ... if they have no names), a column "weight" with the weights and a
// column "label" with the labels.
// Numbers have the fewest digits that read back equal. A set without labels must be read with Label
// "none".
func WriteCSV(w io.Writer, s *Set) error {
	out := csv.NewWriter(w)
	header, err := s.header()
	if err != nil {
		return err
	}
	if err := out.Write(header); err != nil {
		return fmt.Errorf("dataset: writing CSV: %w", err)
	}
	values := make([]float64, s.X.Cols())
	record := make([]string, 0, len(header))
	for i := range s.X.Rows() {
		record = s.record(record[:0], i, s.X.Row(i, values))
		if err := out.Write(record); err != nil {
			return fmt.Errorf("dataset: writing CSV: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("dataset: writing CSV: %w", err)
	}
	return nil
}

func (s *Set) header() ([]string, error) {
	var header []string
	if s.IDs != nil {
		header = append(header, "id")
	}
	header = append(header, s.names()...)
	if s.Weights != nil {
		header = append(header, "weight")
	}
	if s.Labels != nil {
		header = append(header, "label")
	}
	if err := checkNames(header); err != nil {
		return nil, fmt.Errorf("dataset: writing CSV: %w", err)
	}
	return header, nil
}

// names returns the names of the columns, or x0, x1, ... if they have none.
func (s *Set) names() []string {
	if s.Columns != nil {
		return slices.Clone(s.Columns)
	}
	names := make([]string, s.X.Cols())
	for j := range names {
		names[j] = "x" + strconv.Itoa(j)
	}
	return names
}

func (s *Set) record(record []string, i int, values []float64) []string {
	if s.IDs != nil {
		record = append(record, s.IDs[i])
	}
	for _, v := range values {
		record = append(record, strconv.FormatFloat(v, 'g', -1, 64))
	}
	if s.Weights != nil {
		record = append(record, strconv.FormatFloat(s.Weights[i], 'g', -1, 64))
	}
	if s.Labels != nil {
		record = append(record, s.Labels[i])
	}
	return record
}

// WriteLIBSVM writes s in LIBSVM's text format, without zeros, ids and column names. It refuses
// missing labels and labels that are not numbers.
func WriteLIBSVM(w io.Writer, s *Set) error {
	if len(s.Labels) != s.X.Rows() {
		return fmt.Errorf("dataset: writing LIBSVM text: there are %d labels but %d rows; give one label for each row", len(s.Labels), s.X.Rows())
	}
	out := bufio.NewWriter(w)
	var line []byte
	for i, label := range s.Labels {
		if _, err := parseNumber(label); err != nil {
			return fmt.Errorf("dataset: writing LIBSVM text: label %s of row %d %w; write CSV instead", quote(label), i+1, err)
		}
		line = append(line[:0], label...)
		s.X.Each(i, func(col int, v float64) {
			if v == 0 {
				return
			}
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(col)+1, 10)
			line = append(line, ':')
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		})
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("dataset: writing LIBSVM text: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("dataset: writing LIBSVM text: %w", err)
	}
	return nil
}

package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// LIBSVMOptions holds the settings for reading LIBSVM text.
type LIBSVMOptions struct {
	Name string // name of the text in messages
	// Columns is the number of columns; 0 means as many as the largest index in the text requires. To read a test set,
	// give the number of columns of the training set, because the text of the test set can have a smaller
	// largest index.
	Columns int
	// FromZero makes column j the column of index j, so that a text can use index 0, as LIBSVM's
	// texts of precomputed kernels do. Otherwise column j has index j + 1.
	FromZero bool
}

// ReadLIBSVM reads a sparse set from the text format of LIBSVM, plain or compressed by gzip. A line
// is a label and index:value pairs, the indices ascending from 1 (or 0), with comments after #. Labels are
// numbers and become canonical ("+1" and "1.0" are "1"); values of 0 are not stored. Errors are
// *SyntaxError.
func ReadLIBSVM(r io.Reader, o LIBSVMOptions) (*Set, error) {
	b, err := open(text(o.Name), r)
	if err != nil {
		return nil, err
	}
	return readLIBSVM(b, o, defaultLimits())
}

func readLIBSVM(b *bufio.Reader, o LIBSVMOptions, bounds limits) (*Set, error) {
	p := &libsvmParser{text: text(o.Name), bounds: bounds, columns: o.Columns, first: 1, start: []int{0}}
	if o.FromZero {
		p.first = 0
	}
	if o.Columns < 0 || o.Columns > bounds.columns {
		return nil, p.errorf(0, "the number of columns is set to %d; choose 1 to %d, or 0 for as many as the text has", o.Columns, bounds.columns)
	}
	lines := bufio.NewScanner(b)
	lines.Buffer(nil, bounds.line)
	for lines.Scan() {
		p.line++
		if err := p.add(lines.Bytes()); err != nil {
			return nil, err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, p.errorf(p.line+1, "the line is longer than %d bytes; split the table", bounds.line)
	case err != nil:
		return nil, p.unreadable(p.line+1, err)
	}
	return p.set(o.Name)
}

// libsvmParser collects the rows of a LIBSVM text and makes a set from them.
type libsvmParser struct {
	text
	bounds   limits
	columns  int // number of columns that the options give, or 0
	first    int // index in the text of the first column, 0 or 1
	line     int
	widest   int // number of columns up to the largest index so far
	labeller labeller
	labels   []string
	start    []int
	index    []int32
	value    []float64
}

func (p *libsvmParser) add(line []byte) error {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	label, rest := nextToken(line)
	if len(label) == 0 {
		return nil
	}
	if err := p.addLabel(label); err != nil {
		return err
	}
	last := p.first - 1
	for {
		var pair []byte
		if pair, rest = nextToken(rest); len(pair) == 0 {
			break
		}
		index, err := p.addPair(pair, last)
		if err != nil {
			return err
		}
		last = index
	}
	p.widest = max(p.widest, last-p.first+1)
	p.start = append(p.start, len(p.index))
	return nil
}

// nextToken splits off the first token, which ends at a blank.
func nextToken(s []byte) (token, rest []byte) {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	for i, c := range s {
		if isBlank(c) {
			return s[:i], s[i:]
		}
	}
	return s, nil
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func (p *libsvmParser) addLabel(token []byte) error {
	if bytes.IndexByte(token, ':') >= 0 {
		return p.errorf(p.line, "the line starts with the feature %s; put a label before it", quote(string(token)))
	}
	label, ok := p.labeller.known[string(token)]
	if !ok {
		var err error
		if label, err = p.newLabel(string(token)); err != nil {
			return err
		}
	}
	p.labels = append(p.labels, label)
	return nil
}

func (p *libsvmParser) newLabel(token string) (string, error) {
	_, err := parseNumber(token)
	switch {
	case err != nil && bytes.IndexByte([]byte(token), ',') >= 0:
		return "", p.errorf(p.line, "label %s is not a single number; keep one label a row, and separate columns by blanks", quote(token))
	case err != nil:
		return "", p.errorf(p.line, "label %s %w; write classes as numbers", quote(token), err)
	}
	return p.labeller.canonical(token)
}

// addPair stores one index:value pair and returns its index, which must be above lastIndex.
func (p *libsvmParser) addPair(pair []byte, lastIndex int) (int, error) {
	colon := bytes.IndexByte(pair, ':')
	switch {
	case colon < 0:
		return 0, p.errorf(p.line, "%s is not index:value; write each feature as its index, a colon and a number", quote(string(pair)))
	case string(pair[:colon]) == "qid":
		return 0, p.errorf(p.line, "qid groups rows for ranking, which is not supported; remove it")
	}
	index, err := p.parseIndex(pair[:colon])
	if err != nil {
		return 0, err
	}
	switch {
	case index == lastIndex:
		return 0, p.errorf(p.line, "index %d occurs twice; keep one", index)
	case index < lastIndex:
		return 0, p.errorf(p.line, "index %d follows index %d; sort the indices of each row", index, lastIndex)
	}
	return index, p.store(index, pair[colon+1:])
}

func (p *libsvmParser) parseIndex(digits []byte) (int, error) {
	if !allDigits(digits) {
		return 0, p.errorf(p.line, "index %s is not a whole number from 1; correct it", quote(string(digits)))
	}
	index := 0
	for _, c := range digits {
		if index = 10*index + int(c-'0'); index-p.first >= p.bounds.columns {
			return 0, p.errorf(p.line, "index %s is above %d, the most columns allowed; number the columns without gaps", quote(string(digits)), p.bounds.columns)
		}
	}
	switch {
	case index < p.first:
		return 0, p.errorf(p.line, "index 0 is not allowed; count the columns from 1")
	case p.columns > 0 && index-p.first >= p.columns:
		return 0, p.errorf(p.line, "index %d is above %d, the given number of columns; give a larger number or drop the column", index, p.columns)
	}
	return index, nil
}

func (p *libsvmParser) store(index int, digits []byte) error {
	v, err := parseValue(digits)
	switch {
	case errors.Is(err, errEmpty):
		return p.errorf(p.line, "index %d has no value; write index:value without a blank, or drop the index", index)
	case err != nil:
		return p.errorf(p.line, "value %s of index %d %w; correct it or drop the index", quote(string(digits)), index, err)
	case v == 0:
		return nil
	case len(p.value) >= p.bounds.cells:
		return p.errorf(p.line, "the table has more than %d entries; split it", p.bounds.cells)
	}
	p.index = append(p.index, int32(index-p.first))
	p.value = append(p.value, v)
	return nil
}

// parseValue is parseNumber with a short cut for single digits, which are common in one-hot and
// count data.
func parseValue(s []byte) (float64, error) {
	if len(s) == 1 && s[0] >= '0' && s[0] <= '9' {
		return float64(s[0] - '0'), nil
	}
	return parseNumber(string(s))
}

func (p *libsvmParser) set(name string) (*Set, error) {
	if len(p.labels) == 0 {
		return nil, p.errorf(0, "there are no rows; give at least one")
	}
	cols := p.columns
	if cols == 0 {
		cols = p.widest
	}
	if cols == 0 {
		return nil, p.errorf(0, "no row has a feature; give the number of columns")
	}
	x := &CSR{cols: cols, start: p.start, index: p.index, value: p.value}
	return &Set{Name: name, X: x, Labels: p.labels}, nil
}

package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/say"
)

// sheet returns the predictions as a table. Rows are named by their ids, or by their order.
func (r predictResult) sheet() *sheet {
	s := &sheet{rows: make([][]string, len(r.Decisions))}
	if r.IDs != nil {
		s.add("id", r.IDs)
	} else {
		s.numbered()
	}
	if r.Labels != nil {
		s.add("label", r.Labels)
	}
	s.addPrediction(r.Prediction)
	return s
}

// save writes the table into a file, and says so.
func (r predictResult) save(path string) (Result, error) {
	text, err := r.sheet().encode()
	if err != nil {
		return nil, err
	}
	if err := create(path, text); err != nil {
		return nil, err
	}
	return savedTable{path, len(r.Decisions), len(r.Unknown)}, nil
}

// savedTable describes a table that has been written.
type savedTable struct {
	Path    string `json:"path"`
	Rows    int    `json:"rows"`
	Unknown int    `json:"unknown"` // rows without an answer
}

// Print names the file.
func (r savedTable) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("%s, %s", r.Path, say.Count(r.Rows, "row"))
	if r.Unknown > 0 {
		p.linef("%s not known to all parties", say.Count(r.Unknown, "row"))
	}
	return p.err
}

// answerTable prints predictions as CSV.
type answerTable struct{ predictResult }

// Print writes the table alone.
func (r answerTable) Print(w io.Writer) error {
	text, err := r.sheet().encode()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// dataOrInput returns the name of the data: for a dash, of a temporary file with the CSV that
// comes by standard input, which done removes.
func (a *app) dataOrInput(name string) (data string, done func() error, err error) {
	if name != "-" {
		return name, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "mercer-input-")
	if err != nil {
		return "", nil, err
	}
	done = func() error { return os.RemoveAll(dir) }
	data = filepath.Join(dir, "input.csv")
	err = disk.ReplaceBy(data, func(w io.Writer) error {
		_, err := io.Copy(w, a.stdin)
		return err
	})
	if err != nil {
		return "", nil, errors.Join(err, done())
	}
	return data, done, nil
}

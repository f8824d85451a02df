package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
)

// jobFile is a job with the text that it was read from.
type jobFile struct {
	path string
	text []byte
	job  *job.Job
}

func (a *app) readJobFile(path string) (*jobFile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("the job file cannot be read: %w", err)
	}
	j, err := a.reader.Parse(path, b)
	return &jobFile{path, b, j}, err
}

// readJob reads a job file.
func (a *app) readJob(path string) (*job.Job, error) {
	f, err := a.readJobFile(path)
	if err != nil {
		return nil, err
	}
	return f.job, nil
}

// names reports whether the data section of the file has a key.
func (f *jobFile) names(key string) bool { return job.DataKey(f.text, key) }

// locate puts before an error about data the line of the job file that asks for
// what is not there: a source, or a column of one.
func (f *jobFile) locate(err error) error {
	var (
		column *dataset.ColumnError
		absent *catalogue.Error
		asked  string
	)
	switch {
	case errors.As(err, &column):
		asked = column.Column
	case errors.As(err, &absent):
		asked = absent.Source
	default:
		return err
	}
	if line := job.DataLine(f.text, asked); line > 0 {
		return fmt.Errorf("%s:%d: %w", f.path, line, err)
	}
	return err
}

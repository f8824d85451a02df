package daemon

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/session"
)

// alignment is where the order of a job's rows lies: CSV with one column, id.
func (h Home) alignment(job string) string { return filepath.Join(h.path("alignments"), job+".csv") }

// keepAlignment writes down which row is which, for whoever reads the decisions
// of a job between holders of columns: the coordinator knows them by number only.
func (h Home) keepAlignment(id session.JobID, ids []string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.Write([]string{"id"})
	for _, one := range ids {
		err = errors.Join(err, w.Write([]string{one}))
	}
	w.Flush()
	if err := errors.Join(err, w.Error(), disk.MakeDir(h.path("alignments"))); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.Replace(h.alignment(id.String()), b.Bytes())
}

// Alignment returns the ids of a finished job's rows in the order of the job,
// held-out rows last.
func (h Home) Alignment(job string) (ids []string, err error) {
	f, err := os.Open(h.alignment(job))
	if err != nil {
		return nil, fmt.Errorf("daemon: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := csv.NewReader(f)
	r.FieldsPerRecord = 1
	records, err := r.ReadAll()
	if err == nil && len(records) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: %s: no list of ids: %w", f.Name(), err)
	}
	for _, one := range records[1:] {
		ids = append(ids, one[0])
	}
	return ids, nil
}

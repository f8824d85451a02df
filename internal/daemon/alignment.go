package daemon

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// keepTable keeps a table as CSV.
func keepTable(e *vault.Estate, id job.ID, item vault.Item, table [][]string) error {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(table); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return e.Put(id, item, b.Bytes())
}

// Left returns what a finished job left in a party's home: the order of its rows, as
// CSV with one column, id, what it recommends to the party's person, as CSV with columns rank,
// item and score, or what it remarks about the party's table, as CSV with one column.
func (h Home) Left(name string, item vault.Item) ([]byte, error) {
	id, err := job.ParseID(name)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	e, err := h.estate()
	if err != nil {
		return nil, fault.BadInput(err)
	}
	b, err := e.Get(id, item)
	if errors.Is(err, vault.ErrNoKeepsake) {
		return nil, fault.BadInputf("job %s left no %s in %s, or it has been forgotten", name, item, h)
	}
	return b, err
}

// Alignment returns the ids of a finished job's rows in the order of the job,
// held-out rows last.
func (h Home) Alignment(job string) (ids []string, err error) {
	b, err := h.Left(job, vault.Alignment)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = 1
	records, err := r.ReadAll()
	if err == nil && len(records) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("daemon: job %s: no list of ids: %w", job, err)
	}
	for _, one := range records[1:] {
		ids = append(ids, one[0])
	}
	return ids, nil
}

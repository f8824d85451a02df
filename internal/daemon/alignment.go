package daemon

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
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

// Judged returns the predictions of held-out rows that a finished job left in a party's home,
// with their figures.
func (h Home) Judged(job string) (*method.Judged, error) {
	b, err := h.Left(job, vault.Figures)
	if err != nil {
		return nil, err
	}
	return decodeJudged(b)
}

// decodeJudged reads what keepJudged keeps.
func decodeJudged(b []byte) (*method.Judged, error) {
	own := &method.Judged{}
	if err := json.Unmarshal(b, own); err != nil {
		return nil, fmt.Errorf("daemon: a party's figures: %w", err)
	}
	if own.Result == nil || own.Outcome == nil {
		return nil, errors.New("daemon: a party's figures: there are none")
	}
	o, d := own.Outcome, own.Outcome.Decisions
	if n := len(o.Truth); n == 0 || len(o.Held) != n || d.Rows != n || d.Cols < 1 || d.Cols > d.Stride || d.Stride > len(d.Data)/n {
		return nil, fmt.Errorf("daemon: a party's figures: %d labels and %d ids of %d x %d decisions", n, len(o.Held), d.Rows, d.Cols)
	}
	return own, nil
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

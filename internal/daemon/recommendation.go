package daemon

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
)

// keepRecommendations writes down what a job recommends to this party's person:
// CSV with columns rank, item and score. Nobody else learns it.
func (h Home) keepRecommendations(id session.JobID, list []stage.Recommendation) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	err := w.Write([]string{"rank", "item", "score"})
	for i, r := range list {
		err = errors.Join(err, w.Write([]string{strconv.Itoa(i + 1), r.Item, strconv.FormatFloat(r.Score, 'f', 6, 64)}))
	}
	w.Flush()
	folder := h.path("recommendations")
	if err := errors.Join(err, w.Error(), disk.MakeDir(folder)); err != nil {
		return fmt.Errorf("daemon: %w", err)
	}
	return disk.Replace(filepath.Join(folder, id.String()+".csv"), b.Bytes())
}

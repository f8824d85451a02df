package daemon

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/vault"
)

// keepRecommendations keeps what a job recommends to this party's person. Nobody
// else learns it.
func keepRecommendations(e *vault.Estate) func(id job.ID, list []method.Recommendation) error {
	return func(id job.ID, list []method.Recommendation) error {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		err := w.Write([]string{"rank", "item", "score"})
		for i, r := range list {
			err = errors.Join(err, w.Write([]string{strconv.Itoa(i + 1), r.Item, strconv.FormatFloat(r.Score, 'f', 6, 64)}))
		}
		w.Flush()
		if err := errors.Join(err, w.Error()); err != nil {
			return fmt.Errorf("daemon: %w", err)
		}
		return e.Put(id, vault.Recommendations, b.Bytes())
	}
}

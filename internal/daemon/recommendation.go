package daemon

import (
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// keepRecommendations keeps a job's recommendations to this party's person. Nobody
// else learns them.
func keepRecommendations(e *vault.Estate) func(id job.ID, list []method.Recommendation) error {
	return func(id job.ID, list []method.Recommendation) error {
		table := [][]string{{"rank", "item", "score"}}
		for i, r := range list {
			table = append(table, []string{strconv.Itoa(i + 1), r.Item, strconv.FormatFloat(r.Score, 'f', 6, 64)})
		}
		return keepTable(e, id, vault.Recommendations, table)
	}
}

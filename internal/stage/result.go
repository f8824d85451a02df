package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/session"
)

// Result is a job's result, in the form that --json prints.
type Result struct {
	Job string `json:"job"`
	// Metrics are figures on the rows that the job holds out; if it holds none
	// out but in folds, the means over the folds of the chosen cell.
	Metrics evaluate.Metrics `json:"metrics"`
	// Pooled and Alone are computed by a launching process that owns the data;
	// null when deployed.
	Pooled     evaluate.Metrics    `json:"pooled"`
	Alone      []Alone             `json:"alone"`
	Difference *float64            `json:"max_decision_difference"` // to pooled
	Exact      *bool               `json:"exact"`                   // every prediction equals pooled's; null where predictions are numbers
	Grid       []Cell              `json:"grid"`                    // empty without folds
	Timings    map[string]float64  `json:"timings_s"`
	PeakRSS    uint64              `json:"peak_rss_bytes"`
	Parties    []Member            `json:"parties"`
	Processes  []int               `json:"processes"`
	Models     []Model             `json:"models"`
	ModelHash  string              `json:"model_sha256"` // of the sorted list of models
	Leakage    map[string][]string `json:"leakage"`      // what each role learns, in words
	HeldOut    int                 `json:"held_out_rows"`
	Training   int                 `json:"training_rows"`
	Support    int                 `json:"support_vectors"` // rows that the model holds
	// Eigenvalues are those of a kernel PCA, largest first.
	Eigenvalues []float64 `json:"eigenvalues,omitempty"`
}

// Alone is what one party reaches without the others, on the same held-out
// rows.
type Alone struct {
	Party   string `json:"party"`
	Rows    int    `json:"training_rows"`
	Metrics evaluate.Metrics
	Failure string `json:"error,omitempty"` // why the learner cannot be fitted to these rows alone
}

// Member is one party's part in a job.
type Member struct {
	Name     string  `json:"name"`
	PID      int     `json:"pid"`
	Sent     uint64  `json:"sent_bytes"`
	Received uint64  `json:"received_bytes"`
	CPU      float64 `json:"cpu_s"`
	PeakRSS  uint64  `json:"peak_rss_bytes"`
}

// Model is a file that a job left at a party or at the coordinator.
type Model struct {
	Party   string `json:"party"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Private bool   `json:"private"` // holds encoded rows and never leaves its place
}

// MarshalJSON puts the metrics beside the party's name.
func (a Alone) MarshalJSON() ([]byte, error) {
	m := map[string]any{"party": a.Party, "training_rows": a.Rows}
	for k, v := range a.Metrics {
		m[k] = v
	}
	if a.Failure != "" {
		m["error"] = a.Failure
	}
	return json.Marshal(m)
}

// HashModels is the SHA-256 of the sorted list of models: two runs with equal
// hashes left the same models with the same members.
func HashModels(models []Model) string {
	var lines []string
	for _, m := range models {
		lines = append(lines, m.Party+" "+m.SHA256+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// Result returns what the coordinator knows of the job's result. Costs and
// comparisons are added by others.
func (s *Server) Result(facts session.Facts) *Result {
	train, test := 0, 0
	for _, held := range s.upload.Test() {
		if held {
			test++
		} else {
			train++
		}
	}
	return &Result{
		Job: s.Job.Name, Metrics: s.metrics, Grid: append([]Cell{}, s.choice.Grid...), HeldOut: test, Training: train,
		Support: s.model.Support(), Eigenvalues: s.fitted.Eigenvalues, Leakage: s.leakage(facts),
	}
}

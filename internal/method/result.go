package method

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/report"
)

// Result is a job's result, in the form that --json prints.
type Result struct {
	Job string `json:"job"`
	// Metrics are measured on the held-out rows. If the job has only folds, they are the means over
	// the folds of the chosen grid cell.
	Metrics learner.Metrics `json:"metrics"`
	// Figures describes the predictions on the held-out rows. It is nil if the maker of the result
	// lacks the scores or the labels.
	Figures    *learner.Assessment `json:"figures,omitempty"`
	About      *learner.About      `json:"about,omitempty"`
	Parameters *learner.Parameters `json:"parameters,omitempty"` // the model's parameters
	Prepared   *learner.Prepared   `json:"prepared,omitempty"`   // the preparation of tables with a schema
	// Pooled and Alone compare the job with pooled training and with training alone. Only a
	// process that owns all data computes them. They are null in a deployment. Pooled
	// withholds nothing: its tables are prepared and scaled without the parties' limits.
	Pooled learner.Metrics `json:"pooled"`
	Alone  []Alone         `json:"alone"`
	// ExactKernel holds the metrics of the exact kernel on pooled rows if the job uses random
	// features.
	ExactKernel learner.Metrics `json:"exact_kernel,omitempty"`
	// Repeats describes the spread of the metrics over the runs of a repeated job. The other
	// metrics of the result are then those of the first run.
	Repeats *learner.Repeats `json:"repeats,omitempty"`
	// LeaveOneSiteOut lists the metrics of each party of a leave-one-site-out job. The other
	// metrics of the result are then those of the first party.
	LeaveOneSiteOut *LeaveOneSiteOut    `json:"turns,omitempty"`
	Difference      *float64            `json:"max_decision_difference"` // greatest difference from pooled decisions about equally prepared rows; null without pooled decisions
	Exact           *bool               `json:"exact"`                   // whether each prediction equals the prediction of pooled learning on equally prepared rows, or, in jobs of devices, each sum the plain sum; null without such a comparison, and if the predictions are numbers
	Grid            []learner.Cell      `json:"grid"`                    // the hyperparameter grid; empty without folds, unless the protocol chooses by its sums
	Outside         *learner.Outside    `json:"grid_outside,omitempty"`  // parts of the grid that other processes computed
	Timings         map[string]float64  `json:"timings_s"`
	Network         *Network            `json:"network,omitempty"` // the simulated network that delays the job's messages
	PeakRSS         uint64              `json:"peak_rss_bytes"`
	Parties         []Cost              `json:"parties"`
	Processes       []int               `json:"processes"`
	Models          []ModelFile         `json:"models"`
	ModelHash       string              `json:"model_sha256,omitempty"` // hash of the sorted model list; "" if the list is empty
	Leakage         map[string][]string `json:"leakage"`                // describes in words what each role learns
	// Exposures says, by role, how much of others' rows the role can reconstruct. It is nil in results
	// of earlier versions, and of jobs of kind Fit.
	Exposures map[string]protocol.Exposure `json:"row_exposure,omitempty"`
	Warnings  []string                     `json:"warnings,omitempty"`
	// Refused lists the refusals of a party with the default policy. It is filled only by a program that
	// has the tables of all parties: mercer simulate and mercer demo.
	Refused  []string `json:"party_would_refuse,omitempty"`
	Withheld []string `json:"party_would_withhold,omitempty"` // parts of the result that a party with the default policy would not release
	HeldOut  int      `json:"held_out_rows"`
	Chosen   string   `json:"held_out,omitempty"` // describes the held-out rows if the job selects them
	Training int      `json:"training_rows"`
	Support  int      `json:"support_vectors"` // rows that the model holds
	// Details holds the method's own part of a result. It is a JSON object whose keys are written
	// beside the common ones, or the value decoded from such an object.
	Details any `json:"-"`
	// Eigenvalues lists the eigenvalues of a kernel PCA, largest first.
	Eigenvalues []float64         `json:"eigenvalues,omitempty"`
	Components  *learner.Likeness `json:"components_to_pooled,omitempty"` // similarity to the pooled kernel PCA components on the held-out rows
}

// TellSplit adds to the result a description of the held-out rows. If the job has groups, it also warns
// that the rows of a group are kept together only within one party.
func (r *Result) TellSplit(j *job.Job) {
	r.Chosen = j.Data.Test.Chosen()
	if j.Data.Group != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("rows of one %s are kept together at each party. If two parties share one, its rows can be both in training and held out, and nobody can detect it", j.Data.Group))
	}
}

// Alone holds the metrics of a model that one party trains alone, on the same held-out rows.
type Alone struct {
	Party   string `json:"party"`
	Rows    int    `json:"training_rows"`
	Metrics learner.Metrics
	Failure string `json:"error,omitempty"` // why the learner cannot train on this party's rows alone
}

// Network counts a job's messages and their transfer time, without computation, on the simulated
// network that the job describes.
type Network struct {
	Seconds  float64 `json:"seconds"`
	Bytes    uint64  `json:"bytes"`
	Messages uint64  `json:"messages"`
}

// Cost holds the cost of a job for one party.
type Cost struct {
	Name     string  `json:"name"`
	PID      int     `json:"pid"`
	Sent     uint64  `json:"sent_bytes"`
	Received uint64  `json:"received_bytes"`
	CPU      float64 `json:"cpu_s"`
	PeakRSS  uint64  `json:"peak_rss_bytes"`
}

// ModelFile is a file that a job left at a party or at the coordinator.
type ModelFile struct {
	Party   string `json:"party"`
	Path    string `json:"path"` // "" if the model is sealed, in parts, or not kept
	SHA256  string `json:"sha256"`
	Private bool   `json:"private"` // the file holds encoded rows and never leaves its member
	// NoFile explains why the model is not a file; "" if it is.
	NoFile string `json:"no_file,omitempty"`
}

// MarshalJSON writes the metrics as keys beside the party's name.
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

// Roles lists the roles of a leakage statement, in reading order.
func Roles() []string {
	return []string{"server", "leader", "active", "passive", "party", "keeper", "coalition", "broker"}
}

// HashModels returns the SHA-256 of the sorted list of models. Two runs with equal hashes left the
// same models with the same members.
func HashModels(models []ModelFile) string {
	if len(models) == 0 {
		return ""
	}
	var lines []string
	for _, m := range models {
		lines = append(lines, m.Party+" "+m.SHA256+"\n")
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])
}

// plain is a Result without methods, so that encoding/json does not call them.
type plain Result

// MarshalJSON writes the keys of the details into the same JSON object as all other keys.
func (r *Result) MarshalJSON() ([]byte, error) {
	common, err := json.Marshal((*plain)(r))
	if err != nil || r.Details == nil {
		return common, err
	}
	own, err := json.Marshal(r.Details)
	if err != nil {
		return nil, err
	}
	if len(own) < 2 || own[0] != '{' {
		return nil, fmt.Errorf("method: the details of a result must be a JSON object, but they begin with %.20s", own)
	}
	if own = bytes.TrimSpace(own[1 : len(own)-1]); len(own) == 0 {
		return common, nil
	}
	return append(append(common[:len(common)-1], ','), append(own, '}')...), nil
}

// UnmarshalJSON stores all keys that are not fields of Result in Details.
func (r *Result) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	t := reflect.TypeFor[Result]()
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		delete(all, key)
	}
	if len(all) == 0 {
		return nil
	}
	own, err := json.Marshal(all)
	r.Details = json.RawMessage(own)
	return err
}

// DetailsOf returns the method's own part of a result, and decodes it if necessary. It returns nil
// if there is none.
func DetailsOf[T any](r *Result) (*T, error) {
	switch d := r.Details.(type) {
	case *T:
		return d, nil
	case json.RawMessage:
		own := new(T)
		return own, json.Unmarshal(d, own)
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("method: the result's details are of another method: %T", r.Details)
}

// Presentation describes a result beyond its metrics.
type Presentation struct {
	Unit string // the unit of the training data; "" for rows
	// Majority is the accuracy of always predicting the larger class; 0 if unknown.
	Majority float64
	// Within is an upper bound of the rounding error of shares of held-out rows; 0 if the shares are
	// exact.
	Within float64
	Pooled int // amount of the pooled learner's training data, in Unit; 0 means the number of training rows
	// Notes are sentences under the table of scores on a terminal, such as about the exactness of the metrics.
	Notes []string
	// Text replaces the line that counts training rows and held-out rows.
	Text  []Block
	Later []Block // blocks after the table of the hyperparameter grid
	// Settings describes the settings that the data determined. The page shows them after the job's
	// settings.
	Settings string
	// Learner replaces the description of the job's learner on the report page, if the method has determined
	// one of the learner's numbers. It is "" if the job's own description holds.
	Learner string
	// Summary replaces the rows at the head of the report page; nil means the common head. More follows
	// in both cases.
	Summary, More []report.Row
	Curves        []report.Curve
}

// Block is a text with line breaks, or a table.
type Block struct {
	Line   string
	Header []string
	Rows   [][]string
}

// LeaveOneSiteOut holds the metrics of a job that holds out each party in turn.
type LeaveOneSiteOut struct {
	Parties  []Site                    `json:"parties"`
	Together map[string]learner.Spread `json:"together"` // the spread of each metric over the held-out parties
	Pooled   map[string]learner.Spread `json:"pooled,omitempty"`
	Seconds  learner.Spread            `json:"total_s"`
}

// Site holds the metrics on all rows of one party, for a model trained by the other parties.
type Site struct {
	Party    string          `json:"party"`
	Training int             `json:"training_rows"`
	HeldOut  int             `json:"held_out_rows"`
	Metrics  learner.Metrics `json:"metrics"`
	Pooled   learner.Metrics `json:"pooled,omitempty"`
	Alone    []Alone         `json:"alone,omitempty"` // metrics of each training party alone
}

// Facts describes a party's data for the job's statement of leakage. The server could derive each
// fact from the data it holds.
type Facts struct {
	Known bool // false: the party has no facts at this stage
	Grid  Grid
	// Features is the number of features if the job has at least as many rows as features, and 0 otherwise.
	// With as many rows, the rank of the Gram matrix reveals the number; with fewer, the number stays
	// secret.
	Features uint32
}

// Grid states whether in none, some or all varying columns the values differ only by multiples of a step, as
// integers, one-hot codes or pixels do. Larger values leak more.
type Grid uint8

// The values of Grid.
const (
	NoGrid Grid = iota
	SomeGrid
	AllGrid
)

// Join combines two sets of facts and keeps the worse case of each fact.
func (f Facts) Join(other Facts) Facts {
	if !other.Known {
		return f
	}
	return Facts{Known: true, Grid: max(f.Grid, other.Grid), Features: max(f.Features, other.Features)}
}

// RankOf returns the rank of a Gram matrix. If the rank cannot be computed, RankOf returns the rank of a
// matrix in which one row depends on the others, because the leakage statement must not say too little.
func RankOf(gram linalg.Matrix[float64]) int {
	factor, err := linalg.CholeskyLowRank(gram)
	if err != nil {
		return gram.Rows - 1
	}
	return factor.Rows
}

// GridOf determines the Grid of a table. What fills a gap, such as a median, can be off the grid of
// the other rows, and makes none of them harder to reconstruct. So the rows without filled gaps count
// by themselves, too, and the worse case is kept.
func GridOf(set *dataset.Set) Grid {
	grid, whole := gridOf(set.X), wholeRows(set)
	if len(whole) > 2 && len(whole) < len(set.Filled) { // any two values are on a grid
		grid = max(grid, gridOf(set.X.Subset(whole)))
	}
	return grid
}

// wholeRows lists the rows in which no gap was filled. It is empty for a table that was not
// prepared.
func wholeRows(set *dataset.Set) []int {
	var whole []int
	for i, filled := range set.Filled {
		if !filled {
			whole = append(whole, i)
		}
	}
	return whole
}

func gridOf(t dataset.Table) Grid {
	grid, columns := dataset.GridColumns(t)
	switch {
	case grid == 0:
		return NoGrid
	case grid < columns:
		return SomeGrid
	}
	return AllGrid
}

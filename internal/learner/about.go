package learner

import (
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
)

// About describes a run for a reader who has only the result.
type About struct {
	Version string    `json:"version"` // of the program
	Date    time.Time `json:"date"`    // of the result, in UTC
	Seed    uint64    `json:"seed"`
	Job     string    `json:"job_file"` // in its canonical form
}

// AboutRun describes the run of a finished job.
func AboutRun(j *job.Job, version string, ended time.Time) *About {
	return &About{Version: version, Date: ended.UTC().Truncate(time.Second), Seed: j.Seed, Job: string(j.Encode())}
}

// Parameters holds the settings that a model was trained with.
type Parameters struct {
	Kernel  kernel.Spec        `json:"kernel"` // in plain numbers
	Learner string             `json:"learner"`
	Numbers map[string]float64 `json:"numbers"` // of the learner: those that a grid may list
}

// Parameters returns the settings of the chosen cell.
func (c *Choice) Parameters() *Parameters {
	p := &Parameters{Kernel: c.Job.Kernel.Spec(), Learner: c.Job.Learner.Name(), Numbers: make(map[string]float64)}
	for _, n := range NumbersOf(c.Job.Learner) {
		p.Numbers[n.Key] = n.Value
	}
	return p
}

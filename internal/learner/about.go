package learner

import (
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
)

// About identifies a run for readers who have only the result.
type About struct {
	Version string    `json:"version"` // version of the program
	Date    time.Time `json:"date"`    // time of the result, in UTC
	Seed    uint64    `json:"seed"`
	Job     string    `json:"job_file"` // text of the job file in canonical form
}

// AboutRun returns the description of a finished job's run.
func AboutRun(j *job.Job, version string, ended time.Time) *About {
	return &About{Version: version, Date: ended.UTC().Truncate(time.Second), Seed: j.Seed, Job: string(j.Encode())}
}

// Parameters holds the settings with which a model was trained.
type Parameters struct {
	Kernel  kernel.Spec        `json:"kernel"` // all parameters of the kernel as numbers
	Learner string             `json:"learner"`
	Numbers map[string]float64 `json:"numbers"` // the learner's settings that a grid can list
}

// Parameters returns the settings of the chosen cell.
func (c *Choice) Parameters() *Parameters {
	p := &Parameters{Kernel: c.Job.Kernel.Spec(), Learner: c.Job.Learner.Name(), Numbers: make(map[string]float64)}
	for _, n := range NumbersOf(c.Job.Learner) {
		p.Numbers[n.Key] = n.Value
	}
	return p
}

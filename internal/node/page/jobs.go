package page

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// maxRows bounds the rows of a table on the page.
const maxRows = 200

// jobsView holds the content of the view of all jobs.
type jobsView struct {
	Jobs  []overview.Job // open jobs first, then the newest
	Older int            // number of jobs that the view leaves out
}

// jobs lists the jobs.
func (p *Page) jobs(_ *http.Request, o overview.Overview) (shownView, error) {
	list := slices.Clone(o.Jobs)
	slices.Reverse(list)
	list = before(list, isOpen)
	v := jobsView{Jobs: list[:min(len(list), maxRows)]}
	v.Older = len(list) - len(v.Jobs)
	said := "No job is open."
	if open := counted(list, isOpen); open > 0 {
		waiting := counted(list, func(j overview.Job) bool { return j.Waiting != nil || j.State == overview.AwaitsApproval })
		said = fmt.Sprintf("Open: %s. Waiting for somebody: %d.", humanize.Count(open, "job"), waiting)
	}
	return shownView{Title: "Jobs", Said: said, Data: v}, nil
}

func isOpen(j overview.Job) bool { return !j.State.Over() }

// jobView holds the content of the view of one job.
type jobView struct {
	overview.Job
	Events []happening
	Report bool // the home is a coordinator's, and has a result of the job
	// Rejection is nil unless the operator of a party has rejected the job.
	Rejection *Rejection
}

// job shows one job.
func (p *Page) job(r *http.Request, o overview.Overview) (shownView, error) {
	id := r.PathValue("id")
	i := slices.IndexFunc(o.Jobs, func(j overview.Job) bool { return j.ID == id })
	if i < 0 {
		return shownView{}, fault.BadInputf("this home has no job %s", id)
	}
	j := o.Jobs[i]
	v := jobView{Job: j, Events: happenings(p.home.Events().Of(id)), Report: j.State == overview.Done}
	said := saidOfJob(j)
	if j.State == overview.Failed {
		var err error
		if v.Rejection, err = p.home.Rejection(id); err != nil {
			return shownView{}, err
		}
		if v.Rejection != nil {
			said = "The job has failed: the operator of " + v.Rejection.Party + " has rejected it."
		}
	}
	return shownView{Title: "Job " + j.Name, Said: said, Alarm: j.State == overview.Failed, Data: v}, nil
}

// saidOfJob writes the state of a job as a sentence.
func saidOfJob(j overview.Job) string {
	switch {
	case j.State == overview.AwaitsApproval:
		return "The job awaits this party's approval, since " + minute(j.Submitted) + "."
	case j.Waiting != nil:
		return "Stage " + j.Stage + " waits for " + j.Waiting.String() + ", since " + minute(j.Waiting.Since) + "."
	case j.State == overview.Queued:
		return "The job is in the queue, since " + minute(j.Submitted) + "."
	case j.State == overview.Running || j.State == overview.Open && j.Stage != "":
		return "Stage " + j.Stage + " is under way, since " + minute(j.StageSince) + ", and waits for nobody's consent."
	case j.State == overview.Closing:
		return "The job has its outcome, and the parties destroy its secrets."
	case j.State == overview.Failed:
		return "The job has failed. mercer job show " + j.ID + " says why."
	case j.State == overview.Done:
		return "The job is done."
	case j.State == overview.Retained:
		return "The job has ended, and this party keeps files or keys for predictions."
	}
	return "The job is " + string(j.State) + "."
}

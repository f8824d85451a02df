package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// maxJobFile bounds the size of a job file in bytes.
const maxJobFile = 1 << 20

// Job is the description of a job that the daemon returns over the socket.
type Job struct {
	overview.Job
	Part    *Part                `json:"part,omitempty"` // nil if no stage is running, or the stage has reported no part
	Failure *coordinator.Failure `json:"error,omitempty"`
	// Rejection is nil unless the operator of a party has rejected the job.
	Rejection *coordinator.Rejection `json:"rejection,omitempty"`
	// Forgotten is true if the coordinator has erased the job's artifacts. Silent names the parties
	// that have not confirmed that their artifacts are erased.
	Forgotten bool           `json:"forgotten,omitempty"`
	Silent    []string       `json:"silent,omitempty"`
	Result    *method.Result `json:"result,omitempty"`
	// File is the job file of a job that awaits a party's approval.
	File string `json:"file,omitempty"`
}

// Part is the part of a job's stage that is under way, and how much of it is done, in units that the
// stage chooses. The units can be rows.
type Part struct {
	Name  string `json:"name"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}

func view(j coordinator.Job) Job {
	var part *Part
	if p := j.Part; j.State == overview.Running && p.Total > 0 {
		part = &Part{p.Stage, p.Done, p.Total}
	}
	return Job{Job: j.Described(), Part: part, Failure: j.Failure, Rejection: j.Rejection, Forgotten: j.Forgotten, Silent: j.Silent, Result: j.Result}
}

// Coordinator returns the handler for requests on a coordinator's socket.
func Coordinator(c *coordinator.Coordinator, gate access.Gate, log *slog.Logger) *Requests {
	q := newRequests(gate, log)
	ofJob := func(pattern string, f func(r *http.Request, id job.ID) (any, error)) { q.add(pattern, withJob(f)) }
	q.add("POST /jobs", func(r *http.Request) (any, error) { return submit(c, r, q.person(r)) })
	q.add("GET /jobs", func(*http.Request) (any, error) {
		list := []Job{}
		for _, j := range c.List() {
			list = append(list, view(j))
		}
		return list, nil
	})
	q.serveOverview(c)
	ofJob("GET /jobs/{id}", func(_ *http.Request, id job.ID) (any, error) { return shown(c.Get(id)) })
	ofJob("GET /jobs/{id}/wait", func(r *http.Request, id job.ID) (any, error) { return shown(c.Wait(r.Context(), id)) })
	ofJob("POST /jobs/{id}/abort", func(_ *http.Request, id job.ID) (any, error) { return struct{}{}, badJobID(c.Abort(id)) })
	ofJob("GET /jobs/{id}/outcome", func(_ *http.Request, id job.ID) (any, error) {
		o, err := c.Outcome(id)
		if err != nil {
			return nil, err
		}
		return o.Encode(), nil
	})
	ofJob("GET /jobs/{id}/model", func(_ *http.Request, id job.ID) (any, error) { return c.Download(id) })
	ofJob("DELETE /jobs/{id}/keepsake", func(r *http.Request, id job.ID) (any, error) { return forgotten(c.Forget(r.Context(), id)) })
	ofJob("DELETE /jobs/{id}", func(r *http.Request, id job.ID) (any, error) { return forgotten(c.Delete(r.Context(), id)) })
	q.add("POST /epoch", func(r *http.Request) (any, error) {
		all := make(map[string]any)
		done, err := c.Rotate(r.Context())
		for id, f := range done {
			all[id.String()], _ = forgotten(f, nil)
		}
		return all, err
	})
	q.add(unknown, func(*http.Request) (any, error) {
		return nil, fault.BadInputf("the coordinator's home cannot carry out this command; use a party's home")
	})
	return q
}

func forgotten(f *coordinator.Forgotten, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return Forgotten{Everywhere: true, Erased: f.Here, Parties: f.Parties, Silent: f.Silent}, nil
}

// readJobFile reads the job file in the body of a request.
func readJobFile(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxJobFile+1))
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	if len(body) > maxJobFile {
		return nil, fault.BadInputf("admin: the job file has more than %d bytes, and no more are allowed", maxJobFile)
	}
	return body, nil
}

func submit(c *coordinator.Coordinator, r *http.Request, by access.Person) (any, error) {
	body, err := readJobFile(r)
	if err != nil {
		return nil, err
	}
	name := r.URL.Query().Get("name")
	j, err := c.Reader.Parse(name, body)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	id, err := c.Submit(j, by)
	if err != nil {
		return nil, err
	}
	submitted, err := c.Get(id)
	if err != nil {
		return nil, err
	}
	return view(submitted), nil
}

func shown(j coordinator.Job, err error) (any, error) {
	if err != nil {
		return nil, badJobID(err)
	}
	return view(j), nil
}

// withJob parses the job id in a request's path and passes it to f.
func withJob(f func(r *http.Request, id job.ID) (any, error)) func(r *http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id, err := job.ParseID(r.PathValue("id"))
		if err != nil {
			return nil, fault.BadInput(err)
		}
		return f(r, id)
	}
}

// badJobID marks the error for an unknown job as a fault of the caller.
func badJobID(err error) error {
	if errors.Is(err, coordinator.ErrNoJob) {
		return fault.BadInput(err)
	}
	return err
}

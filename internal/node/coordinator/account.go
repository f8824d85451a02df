package coordinator

import (
	"os"
	"time"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
)

// account adds up the costs of a job, or of a prediction query.
type account struct {
	usage   Usage
	cpu     float64 // CPU seconds that the process had used before the job
	timings map[string]float64
	parties map[string]*method.Cost
}

func newAccount(usage Usage) *account {
	a := &account{usage: usage, timings: make(map[string]float64), parties: make(map[string]*method.Cost)}
	a.cpu, _ = usage()
	return a
}

func (a *account) step(name string, took time.Duration) {
	a.timings[name] += took.Seconds()
	a.timings["total"] += took.Seconds()
}

// add reads the costs from the parties' reports of one session. Processor time in a report counts
// from the time at which the party's process took up the job, so the latest report has the total of
// that process.
func (a *account) add(reports map[string]*control.Report) {
	for name, r := range reports {
		m := a.parties[name]
		if m == nil {
			m = &method.Cost{Name: name}
			a.parties[name] = m
		}
		m.PID = int(r.PID)
		m.Sent += r.Sent
		m.Received += r.Received
		m.CPU = r.CPU
		m.PeakRSS = r.PeakRSS
	}
}

// settle writes the job's total costs into a result.
func (a *account) settle(r *method.Result, parties []string) {
	cpu, rss := a.usage()
	total := cpu - a.cpu
	r.Processes = []int{os.Getpid()}
	r.PeakRSS = rss
	for _, name := range parties {
		m := a.parties[name]
		if m == nil {
			continue
		}
		r.Parties = append(r.Parties, *m)
		r.Processes = append(r.Processes, m.PID)
		r.PeakRSS = max(r.PeakRSS, m.PeakRSS)
		total += m.CPU
	}
	a.timings["cpu_s"] = total
	r.Timings = a.timings
}

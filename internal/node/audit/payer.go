package audit

import (
	"strings"
	"time"
)

// Payer is the job of a release.
type Payer struct {
	Job     string    // id of the job
	Time    time.Time // time of the release, or of the consent while nothing has left the member
	Outcome string    // how the job ended: "done" or another text; "" while the job is open
}

// Failed reports whether the job has ended without a result.
func (p Payer) Failed() bool { return p.Outcome != "" && !strings.HasPrefix(p.Outcome, "done") }

// Failure returns why a job ended without a result here: why the member refused the job, or what the record says of
// its end. It returns "" if the record does not say that the job ended so.
func Failure(path, job string) (why string, err error) {
	_, err = Verify(path, func(e Event, _ string) error {
		switch {
		case e.Job != job:
		case e.Kind == Refused:
			why = e.Outcome
		case e.Kind == Closed && Payer{Outcome: e.Outcome}.Failed():
			why = e.Outcome
		case e.Kind == Closed:
			why = ""
		}
		return nil
	})
	return why, err
}

// Payers returns the job of each release of a kind, by the ID of the release. Each release must be of one job, as noise
// is. A home without a record has no payers, and lines that [Log.Cut] has removed do not count.
func Payers(path, kind string) (map[string]Payer, error) {
	list, sent := make(map[string]Payer), make(map[string]bool)
	_, err := Verify(path, func(e Event, _ string) error {
		for _, r := range e.Releases {
			first := e.Kind == Accepted && list[r.ID].Job == "" || e.Kind == Released && !sent[r.ID]
			if r.Kind == kind && first {
				list[r.ID], sent[r.ID] = Payer{Job: e.Job, Time: e.Time}, e.Kind == Released
			}
		}
		if e.Kind == Closed {
			end(list, e)
		}
		return nil
	})
	return list, err
}

// end notes the end of a job at all its releases.
func end(list map[string]Payer, e Event) {
	for id, p := range list {
		if p.Job == e.Job {
			p.Outcome = e.Outcome
			list[id] = p
		}
	}
}

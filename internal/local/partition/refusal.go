package partition

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// mostRefused bounds the refusals that Lines lists. It counts the others.
const mostRefused = 3

// Refusal is a reason for which a deployed party would refuse a job.
type Refusal struct {
	Party string // "" if every party would refuse
	Why   string
}

// Lines formats refusals. Of many parties it shows the first ones and the number of the others.
func Lines(list []Refusal) (lines []string) {
	shown, more := 0, 0
	for _, r := range list {
		switch {
		case r.Party == "":
			lines = append(lines, r.Why)
		case shown < mostRefused:
			lines, shown = append(lines, r.Party+": "+r.Why), shown+1
		default:
			more++
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and so would %d more", more))
	}
	return lines
}

// Refusing counts the parties that would refuse, out of the given number of parties.
func Refusing(list []Refusal, parties int) int {
	of := make(map[string]bool)
	for _, r := range list {
		if r.Party == "" {
			return parties
		}
		of[r.Party] = true
	}
	return len(of)
}

// Refusals returns the reasons for which a deployed party would refuse a job that this process
// simulates or demonstrates. It assumes that the party's operator allows the job's protocol and, if
// requested, open predictions, and has set nothing else. The reasons come from the parties' own code.
// aligned is the number of rows that holders of columns have in common. For a job on devices, shares
// is nil.
func Refusals(j *job.Job, shares []Share, aligned int) []Refusal {
	if j.Parties() == nil && shares != nil {
		return nil // without parties, nobody can refuse the job
	}
	devices := j.Data.Partition.By == job.Devices // true for a job on devices, in which no coordinator asks parties
	asked := j
	if !devices {
		asked = j.Owned("own")
		if err := asked.Played(); err != nil {
			return []Refusal{{Why: err.Error()}}
		}
	}
	usual := party.Policy{Protocols: []string{j.Protocol.Name()}, OpenPrediction: j.Prediction == job.Open, Own: devices}
	parties := len(j.Parties())
	if shares == nil {
		parties = job.MaxParties // the number of devices is unknown, so assume the largest number
	}
	var list []Refusal
	for _, why := range usual.Refusals(asked, parties) {
		list = append(list, Refusal{Why: why.Text})
	}
	if why := asked.OwnWord(); why != nil {
		list = append(list, Refusal{Why: why.Error()})
	}
	list = append(list, outsideLimits(j, shares, usual.Limits.Values())...)
	if j.Data.Partition.By == job.Columns {
		if err := usual.Limits.Values().CheckRows(j.Protocol.Name(), aligned); err != nil {
			list = append(list, Refusal{Why: "after aligning: " + err.Error()})
		}
	}
	return list
}

// outsideLimits returns a refusal for each party whose table is below the minimum row counts.
func outsideLimits(j *job.Job, shares []Share, limits method.Limits) (list []Refusal) {
	m, err := method.Of(j)
	if err != nil {
		return nil // parties cannot run this protocol, so no party's operator decides about it
	}
	instance := method.Instance{Job: j, Parties: j.Parties(), Limits: limits}
	for _, s := range shares {
		if _, err := m.Party(instance, s.Party, s.Table); fault.CodeOf(err) == fault.CodePolicy { // another error is no refusal, and Shares reports it
			list = append(list, Refusal{s.Party, err.Error()})
		}
	}
	return list
}

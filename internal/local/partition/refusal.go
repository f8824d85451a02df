package partition

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// mostRefused bounds the parties of which each one's refusal is told.
const mostRefused = 3

// Refusals lists the refusals of a party for a job that one process plays. This party's
// operator allows the job's protocol on the table, and open predictions where the job asks
// for them, and has written nothing else. The refusals come from the parties' own code.
// aligned counts the rows that holders of columns had in common; devices have no shares.
func Refusals(j *job.Job, shares []Share, aligned int) []string {
	if j.Parties() == nil && shares != nil {
		return nil // there is no party
	}
	devices := j.Data.Partition.By == job.Devices // to which nobody submits a job
	asked := j
	if !devices {
		asked = j.Owned("own")
		if err := asked.Played(); err != nil {
			return []string{err.Error()}
		}
	}
	usual := party.Policy{Protocols: []string{j.Protocol.Name()}, OpenPrediction: j.Prediction == job.Open, Own: devices}
	parties := len(j.Parties())
	if shares == nil {
		parties = job.MaxParties // of people, whom nobody counts here
	}
	list := usual.Refusals(asked, parties)
	if why := asked.OwnWord(); why != nil {
		list = append(list, why.Error())
	}
	list = append(list, outsideLimits(j, shares, usual.Limits.Values())...)
	if j.Data.Partition.By == job.Columns {
		if err := usual.Limits.Values().CheckRows(j.Protocol.Name(), aligned); err != nil {
			list = append(list, "after aligning: "+err.Error())
		}
	}
	return list
}

// outsideLimits lists the parties whose tables are outside the limits.
func outsideLimits(j *job.Job, shares []Share, limits method.Limits) (list []string) {
	m, err := method.Of(j)
	if err != nil {
		return nil // nobody's operator is asked
	}
	instance := method.Instance{Job: j, Parties: j.Parties(), Limits: limits}
	more := 0
	for _, s := range shares {
		switch _, err := m.Party(instance, s.Party, s.Table); {
		case fault.CodeOf(err) != fault.CodePolicy: // what is wrong beside, the job has said itself
		case len(list) < mostRefused:
			list = append(list, s.Party+": "+err.Error())
		default:
			more++
		}
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and so would %d other parties", more))
	}
	return list
}

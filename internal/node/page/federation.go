package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// maxEvents bounds the events that a view lists.
const maxEvents = 30

// federationView holds the content of the view of the federation.
type federationView struct {
	Members []overview.Member // those that are missing first
	Waits   []wait
	Broker  *overview.Broker
	Events  []happening // the newest first
}

// wait is something that waits for members.
type wait struct {
	overview.Awaiting
	Path string // path of the view that shows what waits, without the session's folder
	Text string
}

// federation shows the members, the missing ones first, everything that waits, and the latest events.
func (p *Page) federation(_ *http.Request, o overview.Overview) (shownView, error) {
	v := federationView{Members: before(o.Members, isMissing), Waits: waits(o), Broker: o.Broker, Events: happenings(p.home.Events().Of(""))}
	return shownView{Title: "Federation " + o.Federation, Said: saidOfMembers(o), Alarm: slices.ContainsFunc(o.Members, isMissing), Data: v}, nil
}

func isMissing(m overview.Member) bool { return !m.Connected }

// saidOfMembers names the missing members in a sentence.
func saidOfMembers(o overview.Overview) string {
	var missing []string
	for _, m := range o.Members {
		if isMissing(m) {
			missing = append(missing, fmt.Sprintf("%s, since %s", m.Name, minute(m.Since)))
		}
	}
	all := len(o.Members)
	switch {
	case o.Role == roster.Party && len(missing) > 0:
		return "This party has no connection to its coordinator " + missing[0] + "."
	case o.Role == roster.Party:
		return "This party is connected to its coordinator. Only the coordinator sees which other parties are missing."
	case len(missing) > 0:
		return fmt.Sprintf("Missing: %s. %d of %d parties are connected.", strings.Join(missing, "; "), all-len(missing), all)
	}
	return fmt.Sprintf("Nobody is missing. All %d parties are connected.", all)
}

// waits describes everything that waits.
func waits(o overview.Overview) (list []wait) {
	for _, a := range o.Awaiting {
		list = append(list, waitOf(a))
	}
	return list
}

// waitOf describes a thing that waits, with the view that shows it.
func waitOf(a overview.Awaiting) wait {
	w := wait{Awaiting: a, Path: "/jobs/" + a.Job}
	switch {
	case a.Release != "":
		w.Path, w.Text = "/releases/"+a.Release, "A release of job "+a.Name+" waits for this party's approval"
	case a.Stage == "":
		w.Path, w.Text = "/approvals/"+a.Job, "Job "+a.Name+" waits for this party's approval"
	default:
		w.Text = "Stage " + a.Stage + " of job " + a.Name + " waits for " + overview.Waiting{Parties: a.Members, Undecided: a.Undecided}.String()
	}
	return w
}

// happening is an event in words.
type happening struct {
	overview.Event
	Text string
}

// happenings describes the latest events, the newest first.
func happenings(list []overview.Event) (out []happening) {
	for _, e := range slices.Backward(list) {
		if out = append(out, happening{e, eventText(e)}); len(out) == maxEvents {
			break
		}
	}
	return out
}

// eventText describes an event in words, without its job.
func eventText(e overview.Event) string {
	switch e.Kind {
	case overview.Connected:
		return e.Member + " has connected"
	case overview.Disconnected:
		return e.Member + " is not connected"
	case overview.Submitted:
		return "submitted, for " + names(e.Parties)
	case overview.Accepted:
		return "this party has accepted stage " + e.Stage
	case overview.Refused:
		if e.Stage == "" {
			return "this party has refused the job"
		}
		return "this party has refused stage " + e.Stage
	case overview.StageBegun:
		return "stage " + e.Stage + " has begun"
	case overview.StageEnded:
		return "stage " + e.Stage + " has ended"
	case overview.IsWaiting:
		return "stage " + e.Stage + " waits for " + names(e.Parties)
	case overview.HasResult:
		return "the result is there"
	case overview.HasFailed:
		if e.Blamed != "" {
			return fmt.Sprintf("failed (exit code %d), because of %s", e.Code, e.Blamed)
		}
		return fmt.Sprintf("failed (exit code %d)", e.Code)
	case overview.Aborted:
		return "aborted at the coordinator"
	case overview.Closed:
		return strings.TrimSpace("closed " + string(e.State))
	}
	return string(e.Kind)
}

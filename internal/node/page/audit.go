package page

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// auditView holds the content of the view of the audit record for a month.
type auditView struct {
	Party    bool   // false at a coordinator, which holds no data that could leave it
	Month    string // 2006-01, or "" for all months
	Months   []monthLink
	Text     string // text that the job, table, dictionary or a member of each shown entry contains; "" for all entries
	Let      []let
	Older    int   // number of jobs that the view leaves out
	Acts     []act // at a party its people's decisions about jobs, releases and privacy budgets; at a coordinator everything that is recorded
	Earlier  int   // number of acts that the view leaves out
	Jobs     int   // number of jobs that were submitted; 0 at a party
	Lines    int
	Head     string
	Broken   string // why the chain is broken, "" if it is whole
	Refusals int
	// Forwarding is nil unless the daemon sends the record to a syslog server.
	Forwarding *overview.Forwarding
}

// monthLink leads to the view of a month.
type monthLink struct {
	Value, Name string
	Here        bool
}

// maxMonths is the number of months for which a view has a link. The view of all months has the other months.
const maxMonths = 6

// monthFormat is the format of a month in addresses.
const monthFormat = "2006-01"

// monthLinks returns the links of the latest months, and of all months together.
func monthLinks(now time.Time, shown string) (list []monthLink) {
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	for i := range maxMonths {
		m := first.AddDate(0, -i, 0).Format(monthFormat)
		list = append(list, monthLink{m, monthName(m), m == shown})
	}
	return append(list, monthLink{"", "all months", shown == ""})
}

// let describes the releases of a job from this home.
type let struct {
	Job, Name, Table, Dictionary string
	To                           []string // the coordinator and the other parties
	First                        time.Time
	Kinds, Stages                []string
	Sent                         int64 // bytes of the messages that the job sent in its Stages
	sessions                     map[string]bool
}

// audit shows the record of a month: at a party the releases, and the decisions about jobs, releases and privacy
// budgets; at a coordinator all events.
func (p *Page) audit(r *http.Request, o overview.Overview) (shownView, error) {
	q := r.URL.Query()
	month, text := q.Get("month"), strings.ToLower(strings.TrimSpace(q.Get("text")))
	if !q.Has("month") {
		month = time.Now().Format(monthFormat)
	}
	within, err := parseMonth(month)
	if err != nil {
		return shownView{}, err
	}
	read, err := p.record.lines(p.home.Record())
	if err != nil {
		return shownView{}, err
	}
	v := auditView{Party: o.Role == roster.Party, Month: month, Text: text, Lines: read.lines, Head: read.head, Broken: read.broken}
	v.fill(read.entries, within, o)
	v.Forwarding, v.Months = o.Forwarding, monthLinks(time.Now(), month)
	title := "What has left this home"
	if !v.Party {
		title = "What this coordinator has recorded"
	}
	return shownView{Title: title, Said: v.said(), Alarm: v.Broken != "" || v.Forwarding != nil && v.Forwarding.Failing, Data: v}, nil
}

// parseMonth returns a function that reports whether a time is in a month. All times are in the month "".
func parseMonth(month string) (func(time.Time) bool, error) {
	if month == "" {
		return func(time.Time) bool { return true }, nil
	}
	from, err := time.ParseInLocation(monthFormat, month, time.Local)
	if err != nil {
		return nil, fault.BadInputf("the address names no month; write one such as month=2026-11")
	}
	until := from.AddDate(0, 1, 0)
	return func(at time.Time) bool { return !at.Before(from) && at.Before(until) }, nil
}

// fill fills the view from the entries of a month that contain the view's text. At a party every entry counts as one
// that contains the coordinator's name. Refusals count whatever they contain.
func (v *auditView) fill(entries []entry, within func(time.Time) bool, o overview.Overview) {
	jobs := make(map[string]*let)
	var peers []string
	if v.Party {
		peers = peersOf(o)
	}
	everywhere := len(peers) > 0 && strings.Contains(strings.ToLower(strings.Join(peers, " ")), v.Text)
	for _, e := range entries {
		switch {
		case !within(e.Time):
		case e.Kind == audit.Refused:
			v.Refusals += 1 + e.Skipped
		case everywhere || strings.Contains(e.text, v.Text):
			v.add(jobs, e)
		}
	}
	for _, l := range jobs {
		l.To = append(slices.Clone(peers), slices.DeleteFunc(slices.Clone(l.To), func(name string) bool { return name == o.Name })...)
	}
	v.sort(jobs)
}

// peersOf names the members to which a party sends, as a rule the coordinator.
func peersOf(o overview.Overview) (list []string) {
	for _, m := range o.Members {
		list = append(list, m.Name)
	}
	return list
}

// add adds an entry of the record to the view.
func (v *auditView) add(jobs map[string]*let, e entry) {
	switch e.Kind {
	case audit.Released:
		jobs[e.job] = cmp.Or(jobs[e.job], &let{Job: e.job, Name: e.name, Table: e.table, Dictionary: e.dictionary, To: e.parties, First: e.Time, sessions: make(map[string]bool)})
		jobs[e.job].add(e.Event)
	case audit.Ended:
		if of := jobs[e.job]; of != nil && of.sessions[e.Session] {
			of.Sent += e.Sent
		}
	case audit.Submitted:
		v.Jobs++
		v.Acts = append(v.Acts, actOf(e))
	default:
		if !v.Party || isDecision(e.Kind) {
			v.Acts = append(v.Acts, actOf(e))
		}
	}
}

// isDecision reports whether an event is the decision of a person about a job, a release or the privacy budgets.
func isDecision(kind audit.Kind) bool {
	return slices.Contains([]audit.Kind{audit.Approved, audit.Rejected, audit.ReleaseApproved, audit.ReleaseRefused, audit.ReleaseWithdrawn, audit.BudgetSettled}, kind)
}

// act is an event that the view lists by itself, in words.
type act struct {
	audit.Event
	Job, Name string
	Who       string // "" if no person did it, or the record does not say who
	Text      string // the reason of a decision, or what else the record says
}

// actOf describes an event. Lines of earlier versions have the number of a Unix user.
func actOf(e entry) act {
	who, text := "", e.Outcome
	switch {
	case e.By != nil:
		who = e.By.String()
	case e.UID != nil:
		who = fmt.Sprintf("user %d", *e.UID)
	case isDecision(e.Kind):
		who = "somebody unknown"
	}
	if e.Kind == audit.Submitted {
		text = "for " + names(e.parties)
	}
	return act{e.Event, e.job, e.name, who, text}
}

func (l *let) add(e audit.Event) {
	l.sessions[e.Session] = true
	for _, r := range e.Releases {
		if words := kindWords(r.Kind); !slices.Contains(l.Kinds, words) {
			l.Kinds = append(l.Kinds, words)
		}
	}
	if e.Stage != "" && !slices.Contains(l.Stages, e.Stage) {
		l.Stages = append(l.Stages, e.Stage)
	}
}

// sort puts the newest first, and bounds the lists.
func (v *auditView) sort(jobs map[string]*let) {
	for _, l := range jobs {
		v.Let = append(v.Let, *l)
	}
	slices.SortFunc(v.Let, func(a, b let) int { return cmp.Or(b.First.Compare(a.First), cmp.Compare(a.Job, b.Job)) })
	v.Older = max(0, len(v.Let)-maxRows)
	v.Let = v.Let[:min(len(v.Let), maxRows)]
	slices.Reverse(v.Acts)
	v.Earlier = max(0, len(v.Acts)-maxRows)
	v.Acts = v.Acts[:min(len(v.Acts), maxRows)]
}

// said sums the view up in a sentence, with a warning if the record is broken.
func (v *auditView) said() string {
	text := v.saidOfJobs()
	if v.Party {
		text = v.saidOfLet()
	}
	if v.Month != "" {
		text = "In " + monthName(v.Month) + ", " + text
	}
	text = capital(text)
	if v.Text != "" {
		text += fmt.Sprintf(" This is only about entries with %q.", v.Text)
	}
	if v.Broken != "" {
		return text + " The record is broken, so this may be wrong."
	}
	return text
}

// saidOfLet sums up what has left a party.
func (v *auditView) saidOfLet() string {
	n := len(v.Let) + v.Older
	if n == 0 {
		return "nothing left this home."
	}
	var sent int64
	for _, l := range v.Let {
		sent += l.Sent
	}
	return fmt.Sprintf("%s let data out of this home: %s in all.", humanize.Count(n, "job"), humanize.Bytes(sent))
}

// saidOfJobs sums up what was submitted to a coordinator.
func (v *auditView) saidOfJobs() string {
	switch v.Jobs {
	case 0:
		return "nobody submitted a job."
	case 1:
		return "one job was submitted."
	}
	return humanize.Count(v.Jobs, "job") + " were submitted."
}

// monthName writes a month for people. The month is "" or has the format.
func monthName(month string) string {
	if month == "" {
		return "all months"
	}
	at, _ := time.Parse(monthFormat, month) // parseMonth has refused anything else
	return at.Format("January 2006")
}

// kindWords describes a kind of a release.
func kindWords(kind string) string {
	words := map[string]string{
		"rows": "encoded rows", "sums": "sums over rows", "models": "weights of a model", "products": "products of rows", "phases": "random phases of rows", "noise": "sums or a model with noise", "ids": "which ids all have", "fit": "fitted values",
		"counts": "row counts", "errors": "sums of errors", "fits": "statistics of columns", "folds": "folds of rows", "weights": "weights of rows", "labels": "labels", "questions": "encoded queries",
	}
	return cmp.Or(words[kind], kind)
}

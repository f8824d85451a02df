package page

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// auditView is what the view of the audit record shows of a month.
type auditView struct {
	Month    string // 2006-01, or "" for all months
	Months   []monthLink
	Text     string // only jobs, tables and parties that contain it
	Let      []let
	Older    int // jobs that the view leaves out
	Decided  []decision
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

// maxMonths bounds the months to which a view leads. The view of all months has the others.
const maxMonths = 6

// monthFormat is the format of a month in addresses.
const monthFormat = "2006-01"

// monthLinks returns the latest months, and all months together.
func monthLinks(now time.Time, shown string) (list []monthLink) {
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())
	for i := range maxMonths {
		m := first.AddDate(0, -i, 0).Format(monthFormat)
		list = append(list, monthLink{m, monthName(m), m == shown})
	}
	return append(list, monthLink{"", "all months", shown == ""})
}

// let is what a job has let out of this home.
type let struct {
	Job, Name, Table, Dictionary string
	Parties                      []string
	First                        time.Time
	Kinds                        []string
	Sent                         int64
	sessions                     map[string]bool
}

// audit shows what has left the home in a month, and who decided.
func (p *Page) audit(r *http.Request, o overview.Overview) (shownView, error) {
	q := r.URL.Query()
	month, text := q.Get("month"), strings.ToLower(strings.TrimSpace(q.Get("text")))
	if !q.Has("month") {
		month = time.Now().Format(monthFormat)
	}
	v, err := p.records.view(p.desk.Record(), month, text)
	if err != nil {
		return shownView{}, err
	}
	v.Forwarding, v.Months = o.Forwarding, monthLinks(time.Now(), month)
	return shownView{Title: "What has left this home", Said: v.said(), Alarm: v.Broken != "" || v.Forwarding != nil && v.Forwarding.Failing, Data: v}, nil
}

// records reads the audit record for views. A view is read again when the file has changed, and at least once in the time
// recordTime, since its chain is verified then.
type records struct {
	mu   sync.Mutex // held while the record is read
	kept map[string]keptView
}

// keptView is a view with the state of the file from which it was read.
type keptView struct {
	auditView
	size    int64
	changed time.Time // of the file
	read    time.Time
}

const (
	recordTime = time.Minute
	maxKept    = 8 // views
)

// view returns the view of a month, with only the events that have a text.
func (k *records) view(path, month, text string) (auditView, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var size int64
	var changed time.Time
	if info, err := os.Stat(path); err == nil {
		size, changed = info.Size(), info.ModTime()
	}
	key := month + " " + text
	if old, is := k.kept[key]; is && old.size == size && old.changed.Equal(changed) && time.Since(old.read) < recordTime {
		return old.auditView, nil
	}
	v, err := readRecord(path, month, text)
	if err != nil {
		return v, err
	}
	if k.kept == nil || len(k.kept) >= maxKept {
		k.kept = make(map[string]keptView)
	}
	k.kept[key] = keptView{v, size, changed, time.Now()}
	return v, nil
}

// readRecord reads a view from the record.
func readRecord(path, month, text string) (auditView, error) {
	v := auditView{Month: month, Text: text}
	jobs := make(map[string]*let)
	s, err := audit.Verify(path, func(e audit.Event, _ string) error {
		v.add(jobs, e)
		return nil
	})
	var broken *audit.BrokenError
	if errors.As(err, &broken) {
		v.Broken, err = fmt.Sprintf("line %d: %s", broken.Line, broken.Why), nil
	}
	v.Lines, v.Head = s.Lines, s.Head
	v.sort(jobs)
	return v, err
}

// add adds an event of the record to the view.
func (v *auditView) add(jobs map[string]*let, e audit.Event) {
	month := e.Time.Local().Format(monthFormat)
	if v.Month != "" && month != v.Month || !strings.Contains(strings.ToLower(strings.Join(append(e.Parties, e.Job, e.Name, e.Table, e.Dictionary), " ")), v.Text) {
		return
	}
	switch e.Kind {
	case audit.Released:
		jobs[e.Job] = cmp.Or(jobs[e.Job], &let{Job: e.Job, Name: e.Name, Table: e.Table, Dictionary: e.Dictionary, Parties: e.Parties, First: e.Time, sessions: make(map[string]bool)})
		jobs[e.Job].add(e)
	case audit.Ended:
		if of := jobs[e.Job]; of != nil && of.sessions[e.Session] {
			of.Sent += e.Sent
		}
	case audit.Refused:
		v.Refusals += 1 + e.Skipped
	case audit.Approved, audit.Rejected, audit.ReleaseApproved:
		v.Decided = append(v.Decided, decisionOf(e))
	}
}

// decision is what somebody has decided.
type decision struct {
	audit.Event
	Who string
}

// decisionOf names who has decided. Lines of earlier versions have the number of a Unix user.
func decisionOf(e audit.Event) decision {
	switch {
	case e.By != nil:
		return decision{e, e.By.String()}
	case e.UID != nil:
		return decision{e, fmt.Sprintf("user %d", *e.UID)}
	}
	return decision{e, "somebody unknown"}
}

func (l *let) add(e audit.Event) {
	l.sessions[e.Session] = true
	for _, r := range e.Releases {
		if words := kindWords(r.Kind); !slices.Contains(l.Kinds, words) {
			l.Kinds = append(l.Kinds, words)
		}
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
	slices.Reverse(v.Decided)
	v.Decided = v.Decided[:min(len(v.Decided), maxRows)]
}

// said answers what has left the home, and whether the record is whole.
func (v *auditView) said() string {
	when := monthName(v.Month)
	text := "In " + when + ", nothing left this home."
	if v.Month == "" {
		text = "Nothing left this home."
	}
	if n := len(v.Let) + v.Older; n > 0 {
		var sent int64
		for _, l := range v.Let {
			sent += l.Sent
		}
		text = fmt.Sprintf("In %s, %s let data out of this home: %s in all.", when, humanize.Count(n, "job"), humanize.Bytes(sent))
	}
	if v.Broken != "" {
		return text + " The record is broken, so this may be wrong."
	}
	return text
}

// monthName writes a month for people.
func monthName(month string) string {
	if month == "" {
		return "all months"
	}
	at, err := time.Parse(monthFormat, month)
	if err != nil {
		return "this month"
	}
	return at.Format("January 2006")
}

// kindWords describes a kind of a release.
func kindWords(kind string) string {
	words := map[string]string{
		"rows": "encoded rows", "sums": "sums over rows", "products": "products of rows", "phases": "random phases of rows", "ids": "which ids all have", "fit": "fitted values",
		"counts": "row counts", "errors": "sums of errors", "fits": "statistics of columns", "folds": "folds of rows", "weights": "weights of rows", "labels": "labels", "questions": "encoded queries",
	}
	return cmp.Or(words[kind], kind)
}

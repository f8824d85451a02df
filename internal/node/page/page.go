// Package page serves the web page of a coordinator or a party: who is connected, which jobs there are and what
// they wait for, what awaits the approval of a party's operator, the audit record, the results, and the
// dictionaries.
//
//	p := page.New(home, desk, page.Loopback, log)
//	path, err := p.Invite(visitor)   // the path begins a session if it is opened within a minute
//	err = endpoint.Serve(ctx, listener, p.Handler(), log)
//
// A person sees nothing without a session, and each session has its own random folder of paths and its own
// cookie. Requests that change something are forms with a token of the session. The page shows no value of a
// row, except where the party's opinion of a job, which only approvers see, quotes the table. Without JavaScript
// all views work, and show their state at the time of the request; a script of a few lines keeps them up to date
// by server-sent events.
package page

import (
	"context"
	"embed"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/report"
)

// Home holds what the page shows of the home of a coordinator or a party. It is safe for concurrent use.
type Home interface {
	overview.Source
	// Reports lists the jobs whose results this home has, the newest first.
	Reports() ([]Report, error)
	// WriteReport writes the result of a job as one HTML page.
	WriteReport(w io.Writer, job string) error
	// Rejection says whose operator has rejected a job that has failed, or returns nil if something else has ended it.
	Rejection(job string) (*Rejection, error)
	// Record returns the path of the home's audit record.
	Record() string
	// Documents lists the dictionaries and studies that the operator has approved.
	Documents() ([]Document, error)
}

// Desk carries out what the people of a party decide about what leaves it. It is safe for concurrent use.
type Desk interface {
	// Review describes a job that awaits approval. Its error is a bad input if no such job awaits approval.
	Review(job string) (Review, error)
	// Opinion returns what the party itself says about a job that awaits approval. It can quote the table. Until the
	// party has read its table, which a call makes it do, Opinion returns an Opinion whose Known is false.
	Opinion(job string) (Opinion, error)
	// Releases lists the releases that await approval.
	Releases() ([]disclosure.Listed, error)
	// Alone reports whether the home lets submitters approve their own jobs and releases.
	Alone() bool
	// Approve lets a job begin, and Reject refuses it. ApproveRelease approves a release, and RefuseRelease refuses
	// it, with a reason or "". The person by decides.
	Approve(ctx context.Context, job string, by access.Person) error
	Reject(ctx context.Context, job string, by access.Person, reason string) error
	ApproveRelease(release string, by access.Person) error
	RefuseRelease(release string, by access.Person, reason string) error
}

// Report names a job with a result.
type Report struct {
	Job, Name string
	Ended     time.Time
}

// Rejection says whose operator has rejected a job, and why.
type Rejection struct {
	Party  string
	Reason string // the operator's words: one printable line of bounded length
}

// Document is an approved dictionary or study.
type Document struct {
	Kind  string // "dictionary" or "study"
	Name  string
	Hash  string
	Table string // table for which it is approved; "" at a coordinator
	Day   string // day of the approval, YYYY-MM-DD
	Text  string // canonical file
}

// Review describes a job that awaits approval, for the person who decides.
type Review struct {
	Job, Name string
	Since     time.Time
	Submitter *access.Person // who submitted the job, as the coordinator says; nil if it does not say
	Facts     []Fact         // who asks, for what, by which protocol
	File      string
}

// Opinion holds the judgement of a party's policy and ledger about a job, in sentences.
type Opinion struct {
	Known   bool     // false while the party still compares the job with earlier releases
	Leaves  []string // what would leave the home
	Said    []string
	Refused bool // the policy or the ledger would refuse the job
}

// Fact is a line of a table with two columns.
type Fact struct{ Label, Value string }

//go:embed views page.css page.js
var files embed.FS

// Page is the web page of a daemon.
type Page struct {
	home     Home
	desk     Desk // nil at a coordinator
	site     Site
	log      *slog.Logger
	views    views
	sessions sessions
	logins   logins
	record   record

	// What all views and streams share.
	overview shared[overview.Overview]
	results  shared[[]Report]
	approved shared[[]Document]
	held     shared[[]disclosure.Listed]
}

// New returns the page of a home. Without a desk, which only a party has, it has no view of approvals.
func New(h Home, d Desk, s Site, log *slog.Logger) *Page {
	p := &Page{home: h, desk: d, site: s, log: log, views: parseViews(), logins: newLogins()}
	p.overview.every, p.overview.from = lookEvery/2, h.Overview
	p.results.every, p.results.from = listEvery, h.Reports
	p.approved.every, p.approved.from = listEvery, h.Documents
	if d != nil {
		p.held.every, p.held.from = lookEvery/2, d.Releases
	}
	return p
}

// Handler returns the handler of all requests.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, _ *http.Request) {
		own, _ := files.ReadFile("page.css") // embedded, so there is no error
		send(w, "text/css; charset=utf-8", append([]byte(report.Style()), own...))
	})
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		script, _ := files.ReadFile("page.js")
		send(w, "text/javascript; charset=utf-8", script)
	})
	if p.site.Login == nil {
		mux.HandleFunc("GET /enter", onlyGet(p.enter))
	} else {
		mux.HandleFunc("GET /login", onlyGet(p.login))
		mux.HandleFunc("GET "+backPath, onlyGet(p.loggedIn))
	}
	mux.Handle("/{place}/", p.inSession(p.pages()))
	mux.HandleFunc("/", p.strange)
	return p.guarded(mux)
}

// pages returns the handler of the requests in a session. Their paths begin behind the session's folder.
func (p *Page) pages() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", p.shown("federation", p.federation))
	mux.Handle("GET /jobs", p.shown("jobs", p.jobs))
	mux.Handle("GET /jobs/{id}", p.shown("job", p.job))
	mux.Handle("GET /reports", p.shown("reports", p.reports))
	mux.Handle("GET /reports/{id}", http.HandlerFunc(p.report))
	mux.Handle("GET /dictionaries", p.shown("documents", p.documents))
	mux.Handle("GET /dictionaries/{hash}", p.shown("document", p.document))
	mux.Handle("GET /audit", p.shown("audit", p.audit))
	mux.Handle("POST /leave", p.changing(p.leave))
	if p.desk != nil {
		mux.Handle("GET /approvals", p.shown("approvals", p.approvals))
		mux.Handle("GET /approvals/{id}", p.shown("approval", p.approval))
		mux.Handle("POST /approvals/{id}", p.changing(p.deciding(p.decide)))
		mux.Handle("GET /releases/{id}", p.shown("release", p.release))
		mux.Handle("POST /releases/{id}", p.changing(p.deciding(p.decideRelease)))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, http.StatusNotFound, "There is no such page here.")
	})
	return mux
}

func send(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body) // the caller has gone if this fails
}

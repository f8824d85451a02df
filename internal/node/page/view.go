package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// views holds the template of each view by its name. Each consists of the layout and of a file that defines "live",
// what changes by itself, and "still", what stays until the next request.
type views map[string]*template.Template

// parseViews parses the embedded templates. They are part of the program, so a mistake in them is one of the program.
func parseViews() views {
	all := make(views)
	layout := template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"minute": minute, "machine": machine, "ago": ago, "names": names, "bytes": humanize.Bytes[int64], "size": humanize.Bytes[uint64], "short": short,
	}).ParseFS(files, "views/layout.html"))
	list, err := fs.Glob(files, "views/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range list {
		t := template.Must(template.Must(layout.Clone()).ParseFS(files, file))
		all[strings.TrimSuffix(path.Base(file), ".html")] = t
	}
	return all
}

// minute writes a time for people, in the zone of the daemon's machine.
func minute(t time.Time) string {
	if t.IsZero() {
		return "not known"
	}
	return t.Local().Format("2 Jan 2006, 15:04 MST")
}

// machine writes a time for programs that read the page.
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ago writes how long a time is past.
func ago(t time.Time) string {
	d := time.Since(t)
	if d < time.Minute {
		return "less than a minute"
	}
	if d > 48*time.Hour {
		return humanize.Count(int(d.Hours()/24), "day")
	}
	return humanize.Duration(d.Truncate(time.Minute))
}

// maxNames bounds the names in a list.
const maxNames = 8

func names(list []string) string { return humanize.Names(list, maxNames) }

// short returns the first digits of an id or a hash.
func short(id string) string { return id[:min(len(id), 12)] }

// shownView is what a view shows at a moment.
type shownView struct {
	Title string // heading
	Said  string // the sentence that the view is for
	Alarm bool   // something is missing or broken
	Data  any    // for the templates "live" and "still"
}

// frame is what the layout shows around a view.
type frame struct {
	shownView
	Self    overview.Overview
	Base    string // folder of the session, "" without one
	Links   []link
	Token   string
	Who     string
	Role    string
	Live    bool // the script keeps the view up to date
	Refresh bool // the page leads on to the session's first view
}

// link is an entry of the navigation.
type link struct {
	Path, Text string
	Count      int // what waits there
	Here       bool
}

// build makes what a view shows now.
type build func(r *http.Request, o overview.Overview) (shownView, error)

// shown returns a handler that answers with a view, or with a stream of its changes if the request asks for events.
func (p *Page) shown(name string, b build) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			p.stream(w, r, name, b)
			return
		}
		f, err := p.framed(r, b)
		if err != nil {
			p.failed(w, r, err)
			return
		}
		f.Live = true
		p.show(w, http.StatusOK, name, f)
	})
}

// framed builds a view and what is around it.
func (p *Page) framed(r *http.Request, b build) (frame, error) {
	o, err := p.overview.get()
	if err != nil {
		return frame{}, err
	}
	v, err := b(r, o)
	f := p.frame(r, o)
	f.shownView = v
	return f, err
}

// frame returns what is around the views of a session.
func (p *Page) frame(r *http.Request, o overview.Overview) frame {
	s := sessionOf(r)
	f := frame{Self: o, Base: "/" + s.place, Token: s.token, Who: s.who.String(), Role: strings.Join(s.who.roles(), ", ")}
	running := 0
	for _, j := range o.Jobs {
		if !j.State.Over() {
			running++
		}
	}
	f.Links = []link{{Path: "/", Text: "Federation", Count: absent(o)}, {Path: "/jobs", Text: "Jobs", Count: running}}
	if p.desk != nil {
		f.Links = append(f.Links, link{Path: "/approvals", Text: "Approvals", Count: len(o.Awaiting)}, link{Path: "/audit", Text: "Audit"})
	}
	f.Links = append(f.Links, link{Path: "/reports", Text: "Reports"}, link{Path: "/dictionaries", Text: "Dictionaries"})
	for i, l := range f.Links {
		f.Links[i].Here = r.URL.Path == l.Path || l.Path != "/" && strings.HasPrefix(r.URL.Path, l.Path+"/")
	}
	return f
}

// absent counts the members that are not connected.
func absent(o overview.Overview) (n int) {
	for _, m := range o.Members {
		if !m.Connected {
			n++
		}
	}
	return n
}

// show answers with a view.
func (p *Page) show(w http.ResponseWriter, status int, name string, f frame) {
	body, err := p.render(name, "layout.html", f)
	if err != nil {
		p.log.Error("a view of the page cannot be written", "view", name, "error", err)
		http.Error(w, "This view cannot be written; the daemon's log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller has gone if this fails
}

func (p *Page) render(view, part string, f frame) ([]byte, error) {
	var b bytes.Buffer
	if err := p.views[view].ExecuteTemplate(&b, part, f); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return b.Bytes(), nil
}

// refuse answers outside a session.
func (p *Page) refuse(w http.ResponseWriter, status int, why string) {
	p.show(w, status, "problem", frame{shownView: shownView{Title: "Mercer", Said: why}})
}

// fail answers in a session with a sentence that says what is wrong.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, status int, why string) {
	o, _ := p.overview.get() // an answer about one error need not name another
	f := p.frame(r, o)
	f.shownView = shownView{Title: http.StatusText(status), Said: why, Alarm: true}
	p.show(w, status, "problem", f)
}

// failed answers with an error. Only what the person has asked for wrongly, or what a policy forbids, is said to the
// person; other errors are in the log.
func (p *Page) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch fault.CodeOf(err) {
	case fault.CodeBadInput:
		p.fail(w, r, http.StatusNotFound, sentence(err))
	case fault.CodePolicy:
		p.fail(w, r, http.StatusForbidden, sentence(err))
	default:
		p.log.Error("a view of the page cannot be built", "error", err)
		p.fail(w, r, http.StatusInternalServerError, "The daemon cannot show this now. Its log says why.")
	}
}

// sentence writes an error as a sentence.
func sentence(err error) string {
	text := strings.TrimSuffix(err.Error(), ".")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

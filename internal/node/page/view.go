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
		"minute": minute, "machine": machine, "ago": ago, "names": names, "bytes": humanize.Bytes[int64], "size": humanize.Bytes[uint64], "short": short, "monthName": monthName, "kindWords": kindWords, "messages": func(n uint64) string { return humanize.Count(int(n), "message") },
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

// ago writes how long ago a time was, without the word ago.
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

// shownView holds the content of a view at a moment.
type shownView struct {
	Title string // heading
	Said  string // a sentence that sums the view up
	Alarm bool   // something is missing or broken
	Data  any    // for the templates "live" and "still"
}

// frame holds a view and everything that the layout shows around it.
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
	Count      int // number of missing members, open jobs or things that await approval
	Here       bool
}

// build makes the content of a view as it is now.
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

// framed builds a view and its frame.
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

// frame returns the frame of a session's views, without a view.
func (p *Page) frame(r *http.Request, o overview.Overview) frame {
	s := sessionOf(r)
	f := frame{Self: o, Base: "/" + s.place, Token: s.token, Who: s.who.String(), Role: strings.Join(s.who.roles(), ", ")}
	f.Links = []link{{Path: "/", Text: "Federation", Count: counted(o.Members, isMissing)}, {Path: "/jobs", Text: "Jobs", Count: counted(o.Jobs, isOpen)}}
	if p.desk != nil {
		f.Links = append(f.Links, link{Path: "/approvals", Text: "Approvals", Count: len(o.Awaiting)})
	}
	f.Links = append(f.Links, link{Path: "/audit", Text: "Audit"}, link{Path: "/reports", Text: "Reports"}, link{Path: "/dictionaries", Text: "Dictionaries"})
	for i, l := range f.Links {
		f.Links[i].Here = r.URL.Path == l.Path || l.Path != "/" && strings.HasPrefix(r.URL.Path, l.Path+"/")
	}
	return f
}

// counted counts the elements of a list for which the function is returns true.
func counted[T any](list []T, is func(T) bool) (n int) {
	for _, one := range list {
		if is(one) {
			n++
		}
	}
	return n
}

// before returns the elements for which the function is returns true, and then the others. Both groups keep their
// order.
func before[T any](list []T, is func(T) bool) []T {
	first := make([]T, 0, len(list))
	var others []T
	for _, one := range list {
		if is(one) {
			first = append(first, one)
		} else {
			others = append(others, one)
		}
	}
	return append(first, others...)
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

// fail answers in a session with a sentence about an error.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, status int, why string) {
	o, _ := p.overview.get() // an answer about one error need not name another
	f := p.frame(r, o)
	f.shownView = shownView{Title: http.StatusText(status), Said: why, Alarm: true}
	p.show(w, status, "problem", f)
}

// failed answers with an error. The person reads a bad input and the refusal of a policy; the log has other errors.
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
	return capital(text) + "."
}

// capital writes the first letter of a text as a capital.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

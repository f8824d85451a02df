package page

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// documents lists the approved dictionaries and studies.
func (p *Page) documents(*http.Request, overview.Overview) (shownView, error) {
	list, err := p.approved.get()
	said := "No dictionary and no study is approved here."
	if len(list) > 0 {
		said = humanize.Count(len(list), "approval") + " of dictionaries and studies in force."
	}
	return shownView{Title: "Dictionaries and studies", Said: said, Data: list}, err
}

// document shows a dictionary or a study.
func (p *Page) document(r *http.Request, _ overview.Overview) (shownView, error) {
	list, err := p.approved.get()
	if err != nil {
		return shownView{}, err
	}
	i := slices.IndexFunc(list, func(d Document) bool { return d.Hash == r.PathValue("hash") })
	if i < 0 {
		return shownView{}, fault.BadInputf("no dictionary and no study with this hash is approved here")
	}
	d := list[i]
	return shownView{Title: "The " + d.Kind + " " + d.Name, Said: "Approved here on " + d.Day + ".", Data: d}, nil
}

// reports lists the results of this home.
func (p *Page) reports(*http.Request, overview.Overview) (shownView, error) {
	list, err := p.results.get()
	said := "This home has no result."
	if len(list) > 0 {
		said = "This home has " + humanize.Count(len(list), "result") + "."
	}
	return shownView{Title: "Reports", Said: said, Data: list[:min(len(list), maxRows)]}, err
}

// report answers with the report of a job, which is a page of its own. The report's texts come from job files of other
// members, so the browser shows it in a sandbox.
func (p *Page) report(w http.ResponseWriter, r *http.Request) {
	id, err := job.ParseID(r.PathValue("id"))
	var b bytes.Buffer
	if err == nil {
		err = p.home.WriteReport(&b, id.String())
	} else {
		err = fault.BadInput(err)
	}
	if err != nil {
		p.failed(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy", policyOfReport)
	send(w, "text/html; charset=utf-8", b.Bytes())
}

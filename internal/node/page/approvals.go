package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/humanize"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// approvals lists the jobs and the releases that await approval.
func (p *Page) approvals(_ *http.Request, o overview.Overview) (shownView, error) {
	var list []wait
	for _, a := range o.Awaiting {
		list = append(list, waitOf(a))
	}
	said := "Nothing awaits approval."
	if n := len(list); n == 1 {
		said = "One thing awaits approval."
	} else if n > 1 {
		said = fmt.Sprintf("%d things await approval.", n)
	}
	return shownView{Title: "Approvals", Said: said, Data: list}, nil
}

// approvalView is what the view of a job that awaits approval shows.
type approvalView struct {
	Review
	Opinion
	May string // why the person may not decide; "" if the person may
	Own string // why the person may only reject; "" if the person may also approve
}

// approval shows a job that awaits approval. Only for an approver the party forms its opinion, which takes a reading of
// the table and may quote it.
func (p *Page) approval(r *http.Request, _ overview.Overview) (shownView, error) {
	v, err := p.desk.Review(r.PathValue("id"))
	if err != nil {
		return shownView{}, err
	}
	who := sessionOf(r).who
	shown := approvalView{Review: v, May: mayDecide(who), Own: mayApprove(who, v)}
	if shown.May == "" {
		shown.Opinion, err = p.desk.Opinion(v.Job)
	}
	return shownView{Title: "Approve job " + v.Name + "?", Said: "The job awaits this party's decision since " + minute(v.Since) + ".", Data: shown}, err
}

// mayDecide returns why a person may decide about nothing, or "".
func mayDecide(who Visitor) string {
	if who.May(access.Approver) != nil {
		return "You do not have the role approver, so you cannot decide."
	}
	return ""
}

// mayApprove returns why an approver may not approve a job, or "". Everybody who may approve jobs may reject this one.
func mayApprove(who Visitor, v Review) string {
	switch {
	case v.Alone:
		return ""
	case v.Submitter == nil:
		return "The coordinator does not say who submitted this job, so you may have done it. You can only reject it."
	case who.MayBe(*v.Submitter):
		return "You may be " + v.Submitter.String() + ", who submitted this job. Somebody else has to decide. You can only reject it."
	}
	return ""
}

// decide approves or rejects a job, as the form says.
func (p *Page) decide(w http.ResponseWriter, r *http.Request) {
	id, who := r.PathValue("id"), sessionOf(r).who
	v, err := p.desk.Review(id)
	why := mayDecide(who)
	if why == "" && err == nil && r.PostFormValue("decision") == "approve" {
		why = mayApprove(who, v)
	}
	if why != "" {
		p.fail(w, r, http.StatusForbidden, why)
		return
	}
	said := "Job " + v.Name + " is approved. It begins within some seconds."
	switch decision := r.PostFormValue("decision"); {
	case err != nil:
	case decision == "approve":
		err = p.desk.Approve(r.Context(), id, who.Person)
	case decision == "reject":
		said = "Job " + v.Name + " is rejected. The coordinator's operator reads the reason."
		err = p.desk.Reject(r.Context(), id, who.Person, r.PostFormValue("reason"))
	default:
		err = fault.BadInputf("the form says neither approve nor reject")
	}
	p.answerDecision(w, r, said, err)
}

// answerDecision says what has become of a decision.
func (p *Page) answerDecision(w http.ResponseWriter, r *http.Request, said string, err error) {
	if err != nil {
		p.failed(w, r, err)
		return
	}
	o, err := p.overview.get()
	if err != nil {
		p.failed(w, r, err)
		return
	}
	f := p.frame(r, o)
	f.shownView = shownView{Title: "Done", Said: said}
	p.show(w, http.StatusOK, "problem", f)
}

// releaseView is what the view of a release that awaits approval shows.
type releaseView struct {
	disclosure.Listed
	Kinds string
	May   string
}

// release shows a release that awaits approval.
func (p *Page) release(r *http.Request, _ overview.Overview) (shownView, error) {
	who := sessionOf(r).who
	if who.May(access.Approver) != nil { // the sentences name columns
		return shownView{}, fault.Forbiddenf("only persons with the role approver see what a release would reveal")
	}
	one, err := releaseIn(p.held.get, r.PathValue("id"))
	if err != nil {
		return shownView{}, err
	}
	kinds := []string{kindWords(string(one.Kind))}
	for _, k := range one.Also {
		kinds = append(kinds, kindWords(string(k)))
	}
	v := releaseView{one, strings.Join(kinds, ", "), p.mayRelease(who, one)}
	return shownView{Title: "Approve a release of job " + one.Job + "?", Said: "Together with earlier releases it reveals more than each alone.", Data: v}, nil
}

// mayRelease returns why a person may not decide about a release, or "".
func (p *Page) mayRelease(who Visitor, one disclosure.Listed) string {
	asker, own := one.AskedBy(who.Person)
	switch {
	case who.May(access.Approver) != nil:
		return "You do not have the role approver, so you cannot decide."
	case !own || p.desk.Alone():
		return ""
	case asker.Submitter.Member == "":
		return "Nobody knows who submitted a job that asks for this release, so you may have done it. Who can write to the home can approve it: mercer release approve."
	}
	return "You may be " + asker.Submitter.String() + ", who submitted a job that asks for this release. Somebody else has to decide."
}

// releaseIn returns a release of a list of those that await approval.
func releaseIn(awaiting func() ([]disclosure.Listed, error), id string) (disclosure.Listed, error) {
	list, err := awaiting()
	if err != nil {
		return disclosure.Listed{}, err
	}
	i := slices.IndexFunc(list, func(n disclosure.Listed) bool { return n.ID == id })
	if i < 0 {
		return disclosure.Listed{}, fault.BadInputf("no release %s awaits approval here", id)
	}
	return list[i], nil
}

// approveRelease approves a release.
func (p *Page) approveRelease(w http.ResponseWriter, r *http.Request) {
	who := sessionOf(r).who
	one, err := releaseIn(p.desk.Releases, r.PathValue("id"))
	if why := p.mayRelease(who, one); why != "" && (err == nil || who.May(access.Approver) != nil) {
		p.fail(w, r, http.StatusForbidden, why)
		return
	}
	if err == nil {
		err = p.desk.ApproveRelease(one.ID, who.Person)
	}
	p.answerDecision(w, r, "The release is approved. Submit job "+one.Job+" again, or repeat the prediction query. The approval ends with the release, or after 30 days.", err)
}

// Size writes how large a release is.
func (v releaseView) Size() string {
	return humanize.Count(v.Rows, "row") + ", " + humanize.Count(v.Columns, "column")
}

// Leaves says in a sentence what leaves a home by a release of a kind, and who can learn what from it.
func Leaves(kind method.ReleaseKind) string {
	words := kindWords(string(kind))
	text := strings.ToUpper(words[:1]) + words[1:]
	if learns := (disclosure.Listed{Kind: kind}).Learns(); learns != "" {
		return text + ": " + learns + "."
	}
	return text + "."
}

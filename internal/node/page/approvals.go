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
	list := waits(o)
	said := "Nothing awaits approval."
	if n := len(list); n == 1 {
		said = "One thing awaits approval."
	} else if n > 1 {
		said = fmt.Sprintf("%d things await approval.", n)
	}
	return shownView{Title: "Approvals", Said: said, Data: list}, nil
}

// approvalView holds the content of the view of a job that awaits approval.
type approvalView struct {
	Review
	Opinion
	WhyNot     string // why the person cannot decide; "" if the person can
	OnlyReject string // why the person cannot approve; "" if the person can
}

// approval shows a job that awaits approval. It asks for the party's opinion only if the person is an approver, because
// the party reads its table for the opinion, and the opinion can quote the table.
func (p *Page) approval(r *http.Request, _ overview.Overview) (shownView, error) {
	v, err := p.desk.Review(r.PathValue("id"))
	if err != nil {
		return shownView{}, err
	}
	who := sessionOf(r).who
	shown := approvalView{Review: v, WhyNot: whyNotDecide(who), OnlyReject: p.whyNotApprove(who, v)}
	if shown.WhyNot == "" {
		shown.Opinion, err = p.desk.Opinion(v.Job)
	}
	return shownView{Title: "Approve job " + v.Name + "?", Said: "The job awaits this party's decision since " + minute(v.Since) + ".", Data: shown}, err
}

// whyNotDecide returns why a person cannot decide about any job or release, or "".
func whyNotDecide(who Visitor) string {
	if who.May(access.Approver) != nil {
		return "You do not have the role approver, so you cannot decide."
	}
	return ""
}

// whyNotApprove returns why an approver cannot approve a job, or "". Every approver can reject it.
func (p *Page) whyNotApprove(who Visitor, v Review) string {
	switch {
	case p.desk.Alone():
		return ""
	case v.Submitter == nil:
		return "The coordinator does not say who submitted this job, so you may have done it. You can only reject it."
	case who.MayBe(*v.Submitter):
		return "You may be " + v.Submitter.String() + ", who submitted this job. Somebody else has to decide. You can only reject it."
	}
	return ""
}

// deciding passes the requests of approvers on, and refuses those of other people.
func (p *Page) deciding(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if why := whyNotDecide(sessionOf(r).who); why != "" {
			p.fail(w, r, http.StatusForbidden, why)
			return
		}
		f(w, r)
	}
}

// decide approves or rejects a job, as the form says.
func (p *Page) decide(w http.ResponseWriter, r *http.Request) {
	who := sessionOf(r).who
	v, err := p.desk.Review(r.PathValue("id"))
	if err != nil {
		p.failed(w, r, err)
		return
	}
	said := "Job " + v.Name + " is approved. It begins within some seconds."
	switch r.PostFormValue("decision") {
	case "approve":
		if why := p.whyNotApprove(who, v); why != "" {
			p.fail(w, r, http.StatusForbidden, why)
			return
		}
		err = p.desk.Approve(r.Context(), v.Job, who.Person)
	case "reject":
		said = "Job " + v.Name + " is rejected. The coordinator's people and the other parties read the reason."
		err = p.desk.Reject(r.Context(), v.Job, who.Person, r.PostFormValue("reason"))
	default:
		err = fault.BadInputf(`the form says neither "approve" nor "reject"`)
	}
	p.answerDecision(w, r, said, err)
}

// answerDecision answers a decision with its effect, or with its error.
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

// releaseView holds the content of the view of a release that awaits approval. Only approvers see it.
type releaseView struct {
	disclosure.Listed
	Kinds      string
	OnlyRefuse string // why the person cannot approve; "" if the person can
}

// release shows a release that awaits approval.
func (p *Page) release(r *http.Request, _ overview.Overview) (shownView, error) {
	who := sessionOf(r).who
	if who.May(access.Approver) != nil { // the view names columns and jobs
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
	v := releaseView{one, strings.Join(kinds, ", "), p.whyNotRelease(who, one)}
	return shownView{Title: "Approve a release of job " + one.Job + "?", Said: saidOfRelease(one), Data: v}, nil
}

// saidOfRelease says why a release awaits approval. Releases that an earlier version of this program has noted name no
// earlier job, and a job may have no name.
func saidOfRelease(one disclosure.Listed) string {
	var jobs []string
	for _, e := range one.Earlier {
		if e.Job != "" && !slices.Contains(jobs, e.Job) {
			jobs = append(jobs, e.Job)
		}
	}
	switch len(jobs) {
	case 0:
		return "The release awaits this party's decision, because of what it can reveal."
	case 1:
		return "Together with an earlier release of job " + jobs[0] + " it reveals more than each alone."
	}
	return "Together with earlier releases of jobs " + names(jobs) + " it reveals more than each alone."
}

// whyNotRelease returns why an approver cannot approve a release, or "". Every approver can refuse it.
func (p *Page) whyNotRelease(who Visitor, one disclosure.Listed) string {
	asker, own := one.AskedBy(who.Person)
	switch {
	case !own || p.desk.Alone():
		return ""
	case asker.Submitter.Member == "":
		return "Nobody knows who submitted a job that asks for this release, so you may have done it. You can only refuse the release. Who can write to the home can approve it: mercer release approve."
	}
	return "You may be " + asker.Submitter.String() + ", who submitted a job that asks for this release. Somebody else has to approve it. You can only refuse it."
}

// releaseIn returns the release with an id from the list of those that await approval.
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

// decideRelease approves or refuses a release, as the form says.
func (p *Page) decideRelease(w http.ResponseWriter, r *http.Request) {
	who := sessionOf(r).who
	one, err := releaseIn(p.desk.Releases, r.PathValue("id"))
	if err != nil {
		p.failed(w, r, err)
		return
	}
	said := "The release is approved. Submit job " + one.Job + " again, or repeat the prediction query. The approval ends with the release, or after 30 days."
	switch r.PostFormValue("decision") {
	case "approve":
		if why := p.whyNotRelease(who, one); why != "" {
			p.fail(w, r, http.StatusForbidden, why)
			return
		}
		err = p.desk.ApproveRelease(one.ID, who.Person)
	case "refuse":
		said = "The release is refused. If a job asks for it again, it awaits approval again."
		err = p.desk.RefuseRelease(one.ID, who.Person, r.PostFormValue("reason"))
	default:
		err = fault.BadInputf(`the form says neither "approve" nor "refuse"`)
	}
	p.answerDecision(w, r, said, err)
}

// Size writes the numbers of a release's rows and columns.
func (v releaseView) Size() string {
	return humanize.Count(v.Rows, "row") + ", " + humanize.Count(v.Columns, "column")
}

// Leaves describes a kind of release in a sentence: the data that leaves the home, and who can learn what from it.
func Leaves(kind method.ReleaseKind) string {
	text := capital(kindWords(string(kind)))
	if learns := (disclosure.Listed{Kind: kind}).Learns(); learns != "" {
		return text + ": " + learns + "."
	}
	return text + "."
}

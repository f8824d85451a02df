package page

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
)

// breakRecord changes the second line of a record.
func breakRecord(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(b, []byte(`"name":"stroke"`), []byte(`"name":"strike"`), 1)
	if bytes.Equal(b, changed) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Nobody sees anything without a session: not without a cookie, not with the cookie of another session, not with the
// folder alone, and not by an invitation that was used or is old.
func TestNothingWithoutASession(t *testing.T) {
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Approver))
	other := open(t, h, h, visitor(access.Approver))
	paths := []string{"/", "/jobs", "/approvals/" + jobID, "/audit", "/reports/" + jobID}
	refused := func(client *http.Client, base string) {
		t.Helper()
		for _, path := range paths {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			was := s.client
			s.client = client
			status, body := s.do(r)
			s.client = was
			if status != http.StatusUnauthorized || strings.Contains(body, "tumours") || strings.Contains(body, "north") {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	}
	refused(&http.Client{}, s.base)      // the folder without the cookie
	refused(s.client, s.url)             // the cookie without the folder
	refused(s.client, s.url+"/ABCDEFGH") // the cookie and another folder
	refused(other.client, s.base)        // another session's cookie
	if status, _ := s.get(s.base + "/"); status != http.StatusOK {
		t.Errorf("the session itself: %d", status)
	}
	for _, path := range paths { // the right cookie, sent to a folder that only an attacker would ask for
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/ABCDEFGH"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(s.base + "/")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.client.Jar.Cookies(at) {
			r.AddCookie(c)
		}
		if status, body := s.do(r); status != http.StatusUnauthorized || strings.Contains(body, "tumours") {
			t.Errorf("%s of another folder: %d", path, status)
		}
		guess, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		guess.AddCookie(&http.Cookie{Name: cookieName, Value: "AAAAAAAAAAAAAAAAAAAAAAAAAA"})
		if status, body := (&served{t: t, client: &http.Client{}}).do(guess); status != http.StatusUnauthorized || strings.Contains(body, "tumours") {
			t.Errorf("%s by a guessed cookie: %d", path, status)
		}
	}
}

func TestAnInvitationIsForOnce(t *testing.T) {
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Viewer))
	path, err := s.Invite(visitor(access.Viewer))
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	prepared.Header.Set("Sec-Purpose", "prefetch;prerender")
	head, err := http.NewRequestWithContext(t.Context(), http.MethodHead, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := s.do(head); status != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %d", status)
	}
	for i, want := range []int{http.StatusServiceUnavailable, http.StatusOK, http.StatusUnauthorized, http.StatusUnauthorized} {
		status := 0
		if i == 0 {
			status, _ = s.do(prepared)
		} else {
			status, _ = s.get(s.url + path)
		}
		if status != want {
			t.Errorf("opened %d times before: %d, want %d", i, status, want)
		}
	}
	for _, path := range []string{"/enter", "/enter?token=", "/enter?token=guess"} {
		if status, _ := s.get(s.url + path); status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// Invitations and sessions end by their times, and their numbers have limits.
func TestSessionsEnd(t *testing.T) {
	var s sessions
	now := time.Now()
	if err := s.invite("a", visitor(access.Viewer), now); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.accept("a", now.Add(inviteTime)); ok {
		t.Error("an invitation is good after its time")
	}
	request := func(cookie string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
		return r
	}
	first, cookie, err := s.begin(visitor(access.Viewer), now.Add(sessionTime))
	if err != nil {
		t.Fatal(err)
	}
	if s.find(request(cookie), first.place, now.Add(sessionTime-1)) != first || s.find(request(cookie), first.place, now.Add(sessionTime)) != nil {
		t.Error("a session ends too early or too late")
	}
	select {
	case <-first.over:
	default:
		t.Error("the streams of a session that has ended go on")
	}
}

// person returns a viewer of party north.
func person(uid int) Visitor {
	return Visitor{userAt("north", uid), granted([]access.Role{access.Viewer})}
}

// Attack: a viewer opens sessions and asks for invitations without end. The viewer's own oldest end, with their streams,
// and nobody else's.
func TestAttackManySessionsOfOnePerson(t *testing.T) {
	var s sessions
	now := time.Now()
	begin := func(who Visitor) *session {
		t.Helper()
		one, _, err := s.begin(who, now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	honest := begin(person(7))
	if err := s.invite("honest", person(7), now); err != nil {
		t.Fatal(err)
	}
	var own []*session
	for i := range 2 * maxSessions {
		own = append(own, begin(person(8)))
		if err := s.invite(fmt.Sprint(i), person(8), now); err != nil {
			t.Fatal(err)
		}
	}
	for i, one := range own {
		select {
		case <-one.over:
			if i >= len(own)-ownSessions || s.lasts(one) {
				t.Errorf("session %d: ended too early, or lasts although it ended", i)
			}
		default:
			if i < len(own)-ownSessions || !s.lasts(one) {
				t.Errorf("session %d goes on", i)
			}
		}
	}
	if !s.lasts(honest) || len(s.open) != 1+ownSessions {
		t.Errorf("%d sessions are open; that of another person lasts: %t", len(s.open), s.lasts(honest))
	}
	if _, ok := s.accept("honest", now); !ok {
		t.Error("another person's invitation is gone")
	}
	for i := range 2 * maxSessions { // invitations: the oldest of the person are gone
		if _, ok := s.accept(fmt.Sprint(i), now); ok != (i >= 2*maxSessions-ownInvites) {
			t.Errorf("invitation %d is open: %t", i, ok)
		}
	}
}

// Attack: more people than the page has room for. The last ones are refused, and nobody's session or invitation ends.
func TestAttackManyPeople(t *testing.T) {
	var s sessions
	now := time.Now()
	var open []*session
	for uid := range maxSessions {
		one, _, err := s.begin(person(uid), now.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, one)
	}
	if _, _, err := s.begin(person(maxSessions), now.Add(time.Hour)); err == nil {
		t.Error("a session too many")
	}
	for uid := range maxInvites {
		if err := s.invite(fmt.Sprint(uid), person(uid), now); err != nil {
			t.Fatal(err)
		}
	}
	if s.invite("late", person(maxInvites), now) == nil {
		t.Error("an invitation too many")
	}
	for uid, one := range open {
		if !s.lasts(one) {
			t.Errorf("the session of user %d has ended", uid)
		}
	}
	if len(s.invited) != maxInvites {
		t.Errorf("%d invitations", len(s.invited))
	}
}

// Unix users, logins and machines make different people.
func TestSamePerson(t *testing.T) {
	mara := Visitor{Person: access.Person{Member: "north", Subject: "mara of https://login.example"}}
	machine := person(7)
	machine.Machine = "m"
	all := []Visitor{person(7), person(8), {Person: userAt("south", 7)}, machine, mara, {Person: access.Person{Member: "north"}}}
	for i, a := range all {
		for k, b := range all {
			if a.same(b) != (i == k) {
				t.Errorf("%v and %v: %t", a.Person, b.Person, a.same(b))
			}
		}
	}
	if !person(7).same(person(7)) {
		t.Error("a user is not the same user")
	}
}

// A session ends when its person leaves, and its roles are asked at each request.
func TestLeaving(t *testing.T) {
	h := partyHome(t)
	roles := []access.Role{access.Approver}
	who := visitor()
	who.May = func(need access.Role) error { return visitor(roles...).May(need) }
	s := open(t, h, h, who)
	roles = nil
	if status, _ := s.get(s.base + "/"); status != http.StatusUnauthorized {
		t.Errorf("without a role: %d", status)
	}
	roles = []access.Role{access.Viewer}
	if status, _ := s.post("/leave", url.Values{"token": {s.token()}}); status != http.StatusOK {
		t.Errorf("leaving: %d", status)
	}
	if status, _ := s.get(s.base + "/"); status != http.StatusUnauthorized {
		t.Errorf("after leaving: %d", status)
	}
}

// submittedBy returns a home in which a job of a submitter awaits approval.
func submittedBy(t *testing.T, submitter *access.Person) *home {
	h := partyHome(t)
	h.review.Submitter = submitter
	return h
}

// ownRelease returns a home in which a release awaits approval for a job of a submitter, or for one about which nothing
// is known.
func ownRelease(t *testing.T, submitter *access.Person) *home {
	h := partyHome(t)
	h.held[0].Askers = nil
	if submitter != nil {
		h.held[0].Askers = []disclosure.Asker{{Job: jobID, Submitter: *submitter}}
	}
	return h
}

// A form counts only with the session's token and from this origin, and only for persons who may decide.
func TestDeciding(t *testing.T) {
	approve := url.Values{"decision": {"approve"}}
	own := partyHome(t)
	submitter := userAt("north", 7)
	own.review.Submitter = &submitter
	alone := partyHome(t)
	alone.review.Submitter, alone.alone = &submitter, true
	aloneToo := partyHome(t)
	aloneToo.alone = true
	own.held[0].Askers[0].Submitter, aloneToo.held[0].Askers[0].Submitter = submitter, submitter
	nobodys := ownRelease(t, nil) // of an earlier version
	unknown := partyHome(t)
	unknown.review.Submitter = nil
	reject := url.Values{"decision": {"reject"}, "reason": {"oops"}}
	refuse := url.Values{"decision": {"refuse"}, "reason": {"too few"}}
	for name, c := range map[string]struct {
		home    *home
		roles   []access.Role
		path    string
		form    url.Values
		token   string // "" for the right one
		headers []string
		status  int
		decided string
	}{
		"approve":             {path: "/approvals/" + jobID, form: approve, status: 200, decided: "approve " + jobID + " by user 7 at north"},
		"reject":              {path: "/approvals/" + jobID, form: url.Values{"decision": {"reject"}, "reason": {"no ethics vote"}}, status: 200, decided: "reject " + jobID + " by user 7 at north: no ethics vote"},
		"no reason":           {path: "/approvals/" + jobID, form: url.Values{"decision": {"reject"}}, status: 404},
		"no decision":         {path: "/approvals/" + jobID, form: url.Values{}, status: 404},
		"another job":         {path: "/approvals/" + strings.Repeat("cd", 16), form: approve, status: 404},
		"release":             {path: "/releases/" + releaseID, form: approve, status: 200, decided: "release " + releaseID + " by user 7 at north"},
		"refuse":              {path: "/releases/" + releaseID, form: refuse, status: 200, decided: "refuse " + releaseID + " by user 7 at north: too few"},
		"refuse, no reason":   {path: "/releases/" + releaseID, form: url.Values{"decision": {"refuse"}}, status: 200, decided: "refuse " + releaseID + " by user 7 at north: "},
		"refuse, wrong token": {path: "/releases/" + releaseID, form: refuse, token: "AAAAAAAAAAAAAAAAAAAAAAAAAA", status: 403},
		"refuse, viewer":      {roles: []access.Role{access.Viewer}, path: "/releases/" + releaseID, form: refuse, status: 403},
		"refuse, submitter":   {roles: []access.Role{access.Submitter}, path: "/releases/" + releaseID, form: refuse, status: 403},
		"refuse another":      {path: "/releases/none", form: refuse, status: 404},
		"refuse an own one":   {home: ownRelease(t, &submitter), path: "/releases/" + releaseID, form: refuse, status: 200, decided: "refuse " + releaseID + " by user 7 at north: too few"},
		"refuse nobody's":     {home: ownRelease(t, nil), path: "/releases/" + releaseID, form: refuse, status: 200, decided: "refuse " + releaseID + " by user 7 at north: too few"},
		"release, undecided":  {path: "/releases/" + releaseID, form: url.Values{}, status: 404},
		"another release":     {path: "/releases/none", form: approve, status: 404},
		"viewer":              {roles: []access.Role{access.Viewer}, path: "/approvals/" + jobID, form: approve, status: 403},
		"viewer, a release":   {roles: []access.Role{access.Viewer}, path: "/releases/" + releaseID, form: approve, status: 403},
		"submitter":           {roles: []access.Role{access.Submitter}, path: "/approvals/" + jobID, form: approve, status: 403},
		"own job":             {home: own, path: "/approvals/" + jobID, form: approve, status: 403},
		"own job, all roles":  {home: own, roles: access.Roles(), path: "/approvals/" + jobID, form: approve, status: 403},
		"own job, alone":      {home: alone, path: "/approvals/" + jobID, form: approve, status: 200, decided: "approve " + jobID + " by user 7 at north"},
		"own release":         {home: own, path: "/releases/" + releaseID, form: approve, status: 403},
		"nobody's release":    {home: nobodys, path: "/releases/" + releaseID, form: approve, status: 403},
		"own release, alone":  {home: aloneToo, path: "/releases/" + releaseID, form: approve, status: 200, decided: "release " + releaseID + " by user 7 at north"},
		"own job, reject":     {home: submittedBy(t, &submitter), path: "/approvals/" + jobID, form: reject, status: 200, decided: "reject " + jobID + " by user 7 at north: oops"},
		"own job, viewer":     {home: submittedBy(t, &submitter), roles: []access.Role{access.Viewer}, path: "/approvals/" + jobID, form: reject, status: 403},
		"unknown":             {home: unknown, path: "/approvals/" + jobID, form: approve, status: 403},
		"unknown, reject":     {home: submittedBy(t, nil), path: "/approvals/" + jobID, form: reject, status: 200, decided: "reject " + jobID + " by user 7 at north: oops"},
		"wrong token":         {path: "/approvals/" + jobID, form: approve, token: "AAAAAAAAAAAAAAAAAAAAAAAAAA", status: 403},
		"empty token":         {path: "/approvals/" + jobID, form: approve, token: " ", status: 403},
		"another site":        {path: "/approvals/" + jobID, form: approve, headers: []string{"Sec-Fetch-Site", "cross-site"}, status: 403},
		"another port":        {path: "/approvals/" + jobID, form: approve, headers: []string{"Sec-Fetch-Site", "same-site"}, status: 403},
		"another origin":      {path: "/approvals/" + jobID, form: approve, headers: []string{"Sec-Fetch-Site", "", "Origin", "http://127.0.0.1:9"}, status: 403},
		"no origin":           {path: "/approvals/" + jobID, form: approve, headers: []string{"Sec-Fetch-Site", ""}, status: 403},
		"release, wrong site": {path: "/releases/" + releaseID, form: approve, headers: []string{"Sec-Fetch-Site", "cross-site"}, status: 403},
		"too long a form":     {path: "/approvals/" + jobID, form: url.Values{"decision": {"reject"}, "reason": {strings.Repeat("x", maxForm)}}, status: 403},
	} {
		h := c.home
		if h == nil {
			h = partyHome(t)
		}
		if c.roles == nil {
			c.roles = []access.Role{access.Approver}
		}
		s := open(t, h, h, visitor(c.roles...))
		form := url.Values{"token": {s.token()}}
		if c.token != "" {
			form.Set("token", strings.TrimSpace(c.token))
		}
		for key, values := range c.form {
			form[key] = values
		}
		status, body := s.post(c.path, form, c.headers...)
		var want []string
		if c.decided != "" {
			want = []string{c.decided}
		}
		if got := h.decisions(); status != c.status || !slices.Equal(got, want) {
			t.Errorf("%s: %d %q, want %d %q: %s", name, status, got, c.status, want, body)
		}
		// A request by GET changes nothing, whatever it carries.
		if status, _ := s.get(s.base + c.path + "?" + form.Encode()); len(h.decisions()) != len(want) {
			t.Errorf("%s by GET: %d", name, status)
		}
	}
}

// The page shows to a person the buttons that work for the person, and says why others are missing.
func TestButtons(t *testing.T) {
	submitter := userAt("north", 7)
	for _, c := range []struct {
		home            *home
		role            access.Role
		want            string
		approve, reject bool
	}{
		{partyHome(t), access.Viewer, "You do not have the role approver", false, false},
		{partyHome(t), access.Approver, "The audit record has your name.", true, true},
		{submittedBy(t, &submitter), access.Approver, "who submitted this job. Somebody else has to decide.", false, true},
		{submittedBy(t, nil), access.Approver, "does not say who submitted this job", false, true},
	} {
		s := open(t, c.home, c.home, visitor(c.role))
		_, body := s.get(s.base + "/approvals/" + jobID)
		if !strings.Contains(body, c.want) || strings.Contains(body, "Approve tumours</button>") != c.approve || strings.Contains(body, "Reject tumours</button>") != c.reject {
			t.Errorf("%s", body)
		}
		status, body := s.get(s.base + "/releases/" + releaseID)
		if approver := c.role == access.Approver; strings.Contains(body, "Approve this release</button>") != approver || strings.Contains(body, "Refuse this release</button>") != approver {
			t.Errorf("the buttons of a release for a person with the role %s: %s", c.role, body)
		}
		if approver := c.role == access.Approver; approver != (status == http.StatusOK) || approver != strings.Contains(body, "14 people") {
			t.Errorf("%s reads a release: %d %s", c.role, status, body)
		}
	}
}

// The party forms its opinion for an approver only, since that reads the table. A person reads what is the case: that
// only approvers see it, that it is not known yet, or what it is.
func TestOpinions(t *testing.T) {
	const (
		hidden, waiting, none = "Only persons with the role approver see this.", "The party is finding out.", "Nothing now, since this party would refuse the job."
		counted               = "Nothing that the ledger of releases counts."
	)
	known := partyHome(t).opinion
	for _, c := range []struct {
		role    access.Role
		opinion Opinion
		want    string
	}{
		{access.Viewer, Opinion{}, hidden},
		{access.Viewer, known, hidden},
		{access.Submitter, known, hidden},
		{access.Approver, Opinion{}, waiting},
		{access.Approver, known, known.Leaves[0]},
		{access.Approver, Opinion{Known: true, Refused: true, Said: []string{"No."}}, none},
		{access.Approver, Opinion{Known: true, Said: []string{"Yes."}}, counted},
	} {
		h := partyHome(t)
		h.opinion = c.opinion
		s := open(t, h, h, visitor(c.role))
		_, body := s.get(s.base + "/approvals/" + jobID)
		body = html.UnescapeString(body)
		for _, text := range []string{hidden, waiting, none, counted, known.Leaves[0]} {
			if strings.Contains(body, text) != (text == c.want) {
				t.Errorf("%s, %+v: %q is shown: %t", c.role, c.opinion, text, text != c.want)
			}
		}
		said := len(c.opinion.Said) > 0 && strings.Contains(body, c.opinion.Said[0])
		if approver := c.role == access.Approver; said != (approver && c.opinion.Known) || approver != (h.asked == 1) {
			t.Errorf("%s, %+v: the opinion is shown: %t; it was asked for %d times", c.role, c.opinion, said, h.asked)
		}
		s.post("/approvals/"+jobID, url.Values{"token": {s.token()}, "decision": {"approve"}})
		if h.asked > 1 {
			t.Error("a decision asks for the opinion")
		}
	}
}

// Each answer has the headers of the page, and a request that names another host is refused.
func TestHeadersAndHost(t *testing.T) {
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Viewer))
	for _, path := range []string{s.base + "/", s.url + "/style.css", s.url + "/page.js", s.url + "/nothing", s.base + "/reports/" + jobID, s.base + "/nothing"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		policy := res.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q lacks %s", path, policy, want)
			}
		}
		inline, report := strings.Contains(policy, "unsafe"), strings.Contains(path, "/reports/")
		if inline != report || report && (!strings.HasSuffix(policy, "; sandbox") || strings.Contains(policy, "script-src")) {
			t.Errorf("%s: policy %q", path, policy)
		}
		for name, want := range map[string]string{"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
	for host, want := range map[string]int{"localhost:1": 200, "127.0.0.1": 200, "[::1]:80": 200, "evil.example": 421, "evil.example:9470": 421, "127.0.0.1.evil.example": 421} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(s.base + "/")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.client.Jar.Cookies(at) {
			r.AddCookie(c) // the jar itself goes by the Host
		}
		r.Host = host
		if status, body := s.do(r); status != want || want == 421 && strings.Contains(body, "tumours") {
			t.Errorf("host %s: %d", host, status)
		}
	}
}

// The cookie of a session stays in the session's folder, and no script and no other site gets it.
func TestCookie(t *testing.T) {
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Viewer))
	path, err := s.Invite(visitor(access.Viewer))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	list := res.Cookies()
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	if c := list[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || len(c.Path) < 20 || c.Domain != "" || c.Secure {
		t.Errorf("%v", c)
	}
}

// Who may have submitted a job that asks for a release finds a button to refuse it, and none to approve it.
func TestButtonsOfAnOwnRelease(t *testing.T) {
	submitter := userAt("north", 7)
	for want, h := range map[string]*home{
		"who submitted a job that asks for this release": ownRelease(t, &submitter),
		"Nobody knows who submitted":                     ownRelease(t, nil),
	} {
		s := open(t, h, h, visitor(access.Approver))
		if _, body := s.get(s.base + "/releases/" + releaseID); !strings.Contains(body, want) || strings.Contains(body, "Approve this release</button>") || !strings.Contains(body, "Refuse this release</button>") {
			t.Error(body)
		}
	}
}

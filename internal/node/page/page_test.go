package page

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

const (
	jobID     = "0123456789abcdef0123456789abcdef"
	releaseID = "fedcba9876543210"
)

// home is a home and a desk whose state a test changes.
type home struct {
	mu      sync.Mutex
	o       overview.Overview
	history *overview.History
	review  Review
	alone   bool // submitters approve their own
	opinion Opinion
	asked   int // opinions that were asked for
	reads   int // readings of lists
	record  string
	held    []disclosure.Listed
	decided []string
}

func (h *home) Overview() (overview.Overview, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.o
	o.Members, o.Jobs, o.Awaiting = slices.Clone(o.Members), slices.Clone(o.Jobs), slices.Clone(o.Awaiting)
	return o, nil
}

func (h *home) count(n *int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*n++
}

func (h *home) Events() *overview.History { return h.history }

func (h *home) change(f func(o *overview.Overview)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(&h.o)
}

func (h *home) Reports() ([]Report, error) {
	h.count(&h.reads)
	return []Report{{Job: jobID, Name: "tumours", Ended: time.Now()}}, nil
}

func (h *home) WriteReport(w io.Writer, job string) error {
	if job != jobID {
		return fault.BadInputf("job %s has no result here", job)
	}
	_, err := io.WriteString(w, `<!doctype html><html lang="en"><head><title>tumours</title><style>h1 { color: green; }</style></head><body><main><h1>tumours</h1></main></body></html>`)
	return err
}

func (h *home) Documents() ([]Document, error) {
	h.count(&h.reads)
	return []Document{{Kind: "dictionary", Name: "cohort", Hash: strings.Repeat("ab", 32), Table: "patients", Day: "2026-11-02", Text: "kind: Dictionary\n"}}, nil
}

func (h *home) Record() string { return h.record }

func (h *home) Rejection(job string) (*Rejection, error) {
	if job != rejected {
		return nil, nil
	}
	return &Rejection{Party: "east", Reason: whyRejected}, nil
}

func (h *home) Review(job string) (Review, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if job != h.review.Job {
		return Review{}, fault.BadInputf("no job %s awaits approval here", job)
	}
	return h.review, nil
}

func (h *home) Opinion(string) (Opinion, error) {
	h.count(&h.asked)
	return h.opinion, nil
}

func (h *home) Releases() ([]disclosure.Listed, error) {
	h.count(&h.reads)
	return h.held, nil
}

func (h *home) Alone() bool { return h.alone }

func (h *home) decide(what string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.decided = append(h.decided, what)
	return nil
}

func (h *home) Approve(_ context.Context, job string, by access.Person) error {
	return h.decide("approve " + job + " by " + by.String())
}

func (h *home) Reject(_ context.Context, job string, by access.Person, reason string) error {
	if reason == "" {
		return fault.BadInputf("a rejection needs a reason")
	}
	return h.decide("reject " + job + " by " + by.String() + ": " + reason)
}

func (h *home) ApproveRelease(release string, by access.Person) error {
	return h.decide("release " + release + " by " + by.String())
}

func (h *home) RefuseRelease(release string, by access.Person, reason string) error {
	return h.decide("refuse " + release + " by " + by.String() + ": " + reason)
}

// decisions returns what was decided.
func (h *home) decisions() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.decided)
}

// userAt returns a Unix user.
func userAt(member string, uid int) access.Person { return access.Person{Member: member, UID: &uid} }

// visitor returns user 7, who has roles.
func visitor(roles ...access.Role) Visitor {
	return Visitor{userAt("north", 7), granted(roles)}
}

// partyHome returns the home of party north, where a job and a release await approval.
func partyHome(t *testing.T) *home {
	t.Helper()
	began := time.Now().Add(-50 * time.Hour).UTC()
	submitter := userAt("hub", 9)
	submitter.Machine = "another"
	h := &home{
		history: overview.NewHistory(), record: filepath.Join(t.TempDir(), "audit"),
		o: overview.Overview{
			Name: "north", Role: roster.Party, Federation: "clinics", Version: "v0.1.0", Since: began,
			Members:    []overview.Member{{Name: "hub", Role: roster.Coordinator, Connected: true, Since: began, Version: "v0.1.0"}},
			Jobs:       []overview.Job{{ID: jobID, Name: "tumours", State: overview.AwaitsApproval, Submitted: began, Parties: []string{"north", "east", "south"}, Submitter: &submitter}},
			Forwarding: &overview.Forwarding{Failing: true, Sent: 41},
			Awaiting:   []overview.Awaiting{{Job: jobID, Name: "tumours", Members: []string{"north"}, Since: began}, {Name: "readmission", Release: releaseID, Members: []string{"north"}, Since: began}},
		},
		review: Review{
			Job: jobID, Name: "tumours", Since: began, Submitter: &submitter,
			Facts: []Fact{{"Asked by", "user 9 at hub, through coordinator hub"}, {"Predicted", "diagnosis"}, {"Parties", "north, east, south"}, {"Protocol", "moments"}, {"Learner", "svc"},
				{"Kernel", "rbf, gamma 0.05"}, {"Table", "patients"}, {"Dictionary", "cohort (abababababab), approved here"}},
			File: "apiVersion: mercer/v1\nkind: Job\n",
		},
		opinion: Opinion{
			Known:  true,
			Leaves: []string{"Sums over rows: the coordinator can learn sums over all parties' rows; together with all other parties, the sums over these alone."},
			Said:   []string{"The policy of table patients allows the job.", "The ledger finds no earlier release that reveals more together with this one."},
		},
		held: []disclosure.Listed{{ID: releaseID, State: disclosure.Held, Kind: method.ReleaseRows, Job: "readmission", Peers: []string{"east", "hub"}, Columns: 12, Rows: 5210, Since: began,
			Reveals: []string{"the difference between the two releases is the sum over 14 people who came since"},
			Earlier: []disclosure.Earlier{
				{Job: "stroke", Day: "2026-11-20", Kind: method.ReleaseSums, Both: `"age", "bmi"`, There: `"sex <1>"`},
				{Job: "kidney", Kind: method.ReleaseRows, Both: "2 columns without names"},
			},
			Others: 3,
			Askers: []disclosure.Asker{{Job: jobID, Submitter: submitter}}}},
	}
	h.history.Add(overview.Event{Kind: overview.Connected, Member: "hub", Time: began})
	log, err := audit.Open(h.record)
	if err != nil {
		t.Fatal(err)
	}
	seven := 7
	for _, e := range []audit.Event{
		{Kind: audit.Started},
		{Kind: audit.Approved, Job: jobID, Name: "stroke", Table: "patients", By: &access.Person{Member: "north", UID: &seven}, Outcome: ""},
		{Kind: audit.Released, Job: jobID, Name: "stroke", Table: "patients", Session: "s1", Parties: []string{"north", "east", "south"}, Releases: []audit.Release{{Kind: "sums", ID: "1"}, {Kind: "counts", ID: "2"}}},
		{Kind: audit.Ended, Job: jobID, Name: "stroke", Table: "patients", Session: "s1", Sent: 3 << 20, Received: 1 << 20, Outcome: "done"},
		{Kind: audit.Ended, Job: jobID, Name: "stroke", Table: "patients", Session: "s3", Sent: 50 << 20, Outcome: "done"}, // it let nothing out
		{Kind: audit.Ended, Job: "other", Name: "counted", Session: "s2", Sent: 99 << 20, Outcome: "done"},
		{Kind: audit.Refused, Skipped: 3},
	} {
		if err := log.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// rejected is the id of a job that the operator of a party has rejected, with the reason whyRejected.
var (
	rejected    = strings.Repeat("12", 16)
	whyRejected = "no ethics <b>vote</b> " + strings.Repeat("x", 900)
)

// coordinatorHome returns the home of a coordinator, one of whose parties is missing.
func coordinatorHome(t *testing.T) *home {
	at := func(d time.Duration) time.Time { return time.Now().Add(-d).UTC() }
	h := &home{history: overview.NewHistory(), record: filepath.Join(t.TempDir(), "audit"), o: overview.Overview{
		Name: "hub", Role: roster.Coordinator, Federation: "clinics", Version: "v0.1.0", Since: at(50 * time.Hour),
		Members: []overview.Member{
			{Name: "north", Role: roster.Party, Connected: true, Since: at(20 * time.Hour), Version: "v0.1.0"},
			{Name: "east", Role: roster.Party, Since: at(14 * time.Minute), Version: "v0.1.0"},
			{Name: "south", Role: roster.Party, Connected: true, Since: at(3 * time.Hour), Version: "v0.1.0"},
		},
		Jobs: []overview.Job{
			{ID: strings.Repeat("ab", 16), Name: "stroke", State: overview.Done, Parties: []string{"north", "east", "south"}, Submitted: at(30 * time.Hour), Started: at(30 * time.Hour), Ended: at(29 * time.Hour)},
			{ID: jobID, Name: "tumours", State: overview.Running, Stage: "protocol", Parties: []string{"north", "east", "south"}, Submitted: at(20 * time.Minute), Started: at(20 * time.Minute),
				StageSince: at(14 * time.Minute), Deadline: at(-12 * time.Hour), Waiting: &overview.Waiting{Parties: []string{"east", "south"}, Undecided: []string{"south"}, Since: at(13 * time.Minute)}},
			{ID: rejected, Name: "kidney", State: overview.Failed, Parties: []string{"north", "east"}, Submitted: at(40 * time.Hour), Ended: at(39 * time.Hour)},
		},
		Broker: &overview.Broker{Accepts: true, Messages: 12, Bytes: 4 << 20, Limit: 10 << 30, Free: 220 << 30},
	}}
	nine := userAt("hub", 9)
	appendTo(t, h.record,
		audit.Event{Kind: audit.Started, Outcome: "version v0.1.0"},
		audit.Event{Kind: audit.Submitted, Job: strings.Repeat("ab", 16), Name: "stroke", Parties: []string{"north", "east", "south"}, By: &nine},
		audit.Event{Kind: audit.Submitted, Job: jobID, Name: "tumours", Parties: []string{"north", "south"}, By: &nine},
		audit.Event{Kind: audit.Reloaded},
		audit.Event{Kind: audit.Erased, Job: strings.Repeat("ef", 16), Outcome: "model, result"},
	)
	h.o.Awaiting = overview.Waits(h.o.Jobs)
	for _, e := range []overview.Event{
		{Kind: overview.Submitted, Job: jobID, Name: "tumours", Parties: []string{"north", "east", "south"}, Time: at(20 * time.Minute)},
		{Kind: overview.StageBegun, Job: jobID, Name: "tumours", Stage: "protocol", Time: at(14 * time.Minute)},
		{Kind: overview.Disconnected, Member: "east", Time: at(14 * time.Minute)},
		{Kind: overview.IsWaiting, Job: jobID, Name: "tumours", Stage: "protocol", Parties: []string{"east", "south"}, Time: at(13 * time.Minute)},
	} {
		h.history.Add(e)
	}
	return h
}

// served is a page that a test's server serves, with a browser that has a session.
type served struct {
	*Page
	t      *testing.T
	url    string
	client *http.Client
	base   string // URL of the session's folder
}

// open serves a page, and begins a session of a visitor.
func open(t *testing.T, h Home, d Desk, who Visitor) *served {
	t.Helper()
	p := New(h, d, Loopback, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(p.Handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{Page: p, t: t, url: server.URL, client: &http.Client{Jar: jar, Timeout: 20 * time.Second}}
	s.base = s.url + s.enterAs(who)
	return s
}

// enterAs begins a session, and returns its folder.
func (s *served) enterAs(who Visitor) string {
	s.t.Helper()
	path, err := s.Invite(who)
	if err != nil {
		s.t.Fatal(err)
	}
	status, body := s.get(s.url + path)
	found := regexp.MustCompile(`url=(/[A-Z2-7]+)/"`).FindStringSubmatch(body)
	if status != http.StatusOK || found == nil {
		s.t.Fatalf("%d %s", status, body)
	}
	return found[1]
}

func (s *served) get(url string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do(r)
}

func (s *served) do(r *http.Request) (int, string) {
	s.t.Helper()
	res, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// token returns the token of the session's forms.
func (s *served) token() string {
	s.t.Helper()
	_, body := s.get(s.base + "/jobs")
	found := regexp.MustCompile(`name="token" value="([A-Z2-7]+)"`).FindStringSubmatch(body)
	if found == nil {
		s.t.Fatal("no form has a token")
	}
	return found[1]
}

// post sends a form as a browser does. The pairs of headers replace those of a browser.
func (s *served) post(path string, form url.Values, headers ...string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Del(headers[i])
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return s.do(r)
}

// Every view answers, names who is missing first, and says in a sentence what it is for.
func TestViews(t *testing.T) {
	party, boss := partyHome(t), coordinatorHome(t)
	north, hub := open(t, party, party, visitor(access.Approver)), open(t, boss, nil, visitor(access.Viewer))
	for _, c := range []struct {
		of   *served
		path string
		want []string
	}{
		{hub, "/", []string{"Missing: east, since", "2 of 3 parties are connected", "Stage protocol of job tumours waits for east, and for the approval of south", "4.0 MiB of 10.0 GiB", "east is not connected"}},
		{hub, "/jobs", []string{"Open: 1 job. Waiting for somebody: 1.", "stroke", "east, and for the approval of south"}},
		{hub, "/jobs/" + jobID, []string{"Stage protocol waits for east, and for the approval of south, since", "the coordinator then ends the job", "stage protocol has begun"}},
		{hub, "/jobs/" + strings.Repeat("ab", 16), []string{"The job is done.", "Open the report"}},
		{hub, "/jobs/" + rejected, []string{"The job has failed: the operator of east has rejected it.", "<td>the operator of east</td>", "no ethics &lt;b&gt;vote&lt;/b&gt; xxx"}},
		{hub, "/audit", []string{"2 jobs were submitted.", "user 9 at hub", ">for north, south</td>", ">model, result</td>", ">reloaded</td>", "whole: each line", "<td>5</td>", "Who did what"}},
		{hub, "/audit?month=2020-01", []string{"In January 2020, nobody submitted a job.", "<td>5</td>"}},
		{hub, "/audit?month=&text=SOUTH", []string{"2 jobs were submitted. This is only about entries with"}},
		{hub, "/audit?month=&text=strok", []string{"One job was submitted."}},
		{north, "/", []string{"This party is connected to its coordinator.", "Job tumours waits for this party", "A release of job readmission waits"}},
		{north, "/approvals", []string{"2 things await approval."}},
		{north, "/approvals/" + jobID, []string{"Approve job tumours?", "user 9 at hub", "Approve tumours</button>", "together with all other parties", "cohort (abababababab)", "The ledger finds no earlier release"}},
		{north, "/releases/" + releaseID, []string{"sum over 14 people who came since", "Approve this release</button>", "Refuse this release</button>", "earlier releases of jobs stroke, kidney it reveals more",
			"2026-11-20", `>&#34;age&#34;, &#34;bmi&#34;</td>`, `>&#34;sex &lt;1&gt;&#34;</td>`, "not yet, or not known", "sums over rows", "2 columns without names", "leaves out 3 more"}},
		{north, "/audit", []string{"1 job let data out of this home: 3.0 MiB in all", "sums over rows, row counts", "whole: each line", "user 7", "<td>4</td>", "41 lines since the daemon's start; the last attempt has failed", "alarming"}},
		{north, "/jobs/" + jobID, []string{"The job awaits this party", "user 9 at hub", "Read and decide"}},
		{north, "/audit?month=2020-01", []string{"In January 2020, nothing left this home."}},
		{north, "/audit?month=&text=EAST", []string{"stroke", `>hub, east, south</td>`, `This is only about entries with &#34;east&#34;.`}},
		{north, "/audit?month=&text=hub", []string{"stroke", "3.0 MiB in all", "<td>4</td>"}},
		{north, "/audit?month=&text=nobody", []string{"Nothing left this home. This is only about entries with &#34;nobody&#34;.", "<td>4</td>"}},
		{north, "/reports", []string{"This home has 1 result.", "tumours"}},
		{north, "/dictionaries", []string{"cohort", "2026-11-02", "abababababab"}},
		{north, "/dictionaries/" + strings.Repeat("ab", 32), []string{"kind: Dictionary"}},
	} {
		status, body := c.of.get(c.of.base + c.path)
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %q", c.path, want)
			}
		}
		if status != http.StatusOK || t.Failed() {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
	}
	if _, body := hub.get(hub.base + "/"); strings.Index(body, ">east, party<") > strings.Index(body, ">north, party<") {
		t.Error("a connected member stands before a missing one")
	}
	for _, path := range []string{"/approvals", "/releases/" + releaseID, "/other"} {
		if status, _ := hub.get(hub.base + path); status != http.StatusNotFound {
			t.Errorf("a coordinator's %s: %d", path, status)
		}
	}
	for _, path := range []string{"/jobs/none", "/approvals/none", "/releases/none", "/reports/none", "/reports/" + strings.Repeat("cd", 16), "/dictionaries/none"} {
		if status, _ := north.get(north.base + path); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// A record whose chain is broken is said to be broken, on the view that an office would read.
func TestABrokenRecordIsSaid(t *testing.T) {
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Viewer))
	if _, body := s.get(s.base + "/audit"); !strings.Contains(body, "whole: each line") {
		t.Error("a whole record is said to be broken")
	}
	breakRecord(t, h.record)
	_, body := s.get(s.base + "/audit")
	for _, want := range []string{"The record is broken", "broken at line 3", "alarming"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	if strings.Contains(body, "whole: each line") {
		t.Error("it is said to be whole")
	}
}

// A member whose name is the word for its role is not called by both.
func TestNamesThatAreRoles(t *testing.T) {
	for _, c := range []struct {
		home      func(*testing.T) *home
		name      string
		header    string
		member    string // name of another member
		row, none string
	}{
		{coordinatorHome, "hub", "Mercer, coordinator <strong>hub</strong>", "east", ">east, party<", ">east<"},
		{coordinatorHome, "coordinator", "Mercer, <strong>coordinator</strong>", "party", ">party<", "party, party"},
		{partyHome, "Party", "Mercer, <strong>Party</strong>", "coordinator", ">coordinator<", "coordinator, coordinator"},
		{partyHome, "north", "Mercer, party <strong>north</strong>", "hub", ">hub, coordinator<", ">hub<"},
	} {
		h := c.home(t)
		h.o.Name, h.o.Members[0].Name = c.name, c.member
		s := open(t, h, nil, visitor(access.Viewer))
		if _, body := s.get(s.base + "/"); !strings.Contains(body, c.header) || !strings.Contains(body, c.row) || strings.Contains(body, c.none) {
			t.Errorf("%s: %s", c.name, body)
		}
	}
}

// The longest view of an audit record says how much it leaves out.
func TestManyLinesOfARecord(t *testing.T) {
	h := coordinatorHome(t)
	appendTo(t, h.record, slices.Repeat([]audit.Event{{Kind: audit.Submitted, Job: jobID, Name: "tumours"}}, maxRows)...)
	s := open(t, h, nil, visitor(access.Viewer))
	if _, body := s.get(s.base + "/audit"); !strings.Contains(body, "202 jobs were submitted.") || !strings.Contains(body, "leaves out 5 earlier lines") || strings.Contains(body, "version v0.1.0") {
		t.Error(body)
	}
}

// The view of a release names the jobs whose earlier releases reveal more together with it, each once. A note may name
// none, and a job may have no name.
func TestWhyAReleaseWaits(t *testing.T) {
	for _, c := range []struct {
		want string
		jobs []string
	}{
		{"The release awaits this party's decision, because of what it can reveal.", nil},
		{"The release awaits this party's decision, because of what it can reveal.", []string{""}},
		{"Together with an earlier release of job stroke it reveals more than each alone.", []string{"stroke", "", "stroke"}},
		{"Together with earlier releases of jobs stroke, kidney it reveals more than each alone.", []string{"stroke", "kidney"}},
	} {
		var one disclosure.Listed
		for _, name := range c.jobs {
			one.Earlier = append(one.Earlier, disclosure.Earlier{Job: name})
		}
		if said := saidOfRelease(one); said != c.want {
			t.Errorf("%q: %s", c.jobs, said)
		}
	}
}

package daemon

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/mercer-fl/mercer/internal/base/endpoint"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/page"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/transport/nats"
)

// reader is a browser with a session of a daemon's page.
type reader struct {
	t    *testing.T
	http *http.Client
	base string // URL of the session's folder
}

// offerPage gives a home a page.
func (s *site) offerPage() {
	s.t.Helper()
	at, err := endpoint.Unused()
	if err != nil {
		s.t.Fatal(err)
	}
	s.configure(s.t, fmt.Sprintf("page: {listen: %s}\n", at))
}

// read opens the page of a daemon by an invitation.
func (s *site) read() *reader {
	s.t.Helper()
	i, err := s.client().Invite(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r := &reader{t: s.t, http: &http.Client{Jar: jar, Timeout: 20 * time.Second}}
	_, body := r.ask(http.MethodGet, i.URL, nil)
	found := regexp.MustCompile(`url=(/[A-Z2-7]+)/"`).FindStringSubmatch(body)
	if found == nil {
		s.t.Fatalf("%s: %s", i.URL, body)
	}
	at, err := url.Parse(i.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	r.base = "http://" + at.Host + found[1]
	return r
}

func (r *reader) ask(method, at string, form url.Values) (int, string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.t.Context(), method, at, strings.NewReader(form.Encode()))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := r.http.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// shows waits until a view has a text.
func (r *reader) shows(path, text string) {
	r.t.Helper()
	within(r.t, 2*noticed, path+" shows "+text, func() bool {
		_, body := r.ask(http.MethodGet, r.base+path, nil)
		return strings.Contains(body, text)
	})
}

// token returns the token of a view's forms.
func (r *reader) token(path string) string {
	r.t.Helper()
	_, body := r.ask(http.MethodGet, r.base+path, nil)
	token := regexp.MustCompile(`name="token" value="([A-Z2-7]+)"`).FindStringSubmatch(body)
	if token == nil {
		r.t.Fatal(body)
	}
	return token[1]
}

// approve sends the form of a job that awaits approval.
func (r *reader) approve(id string) (int, string) {
	r.t.Helper()
	return r.ask(http.MethodPost, r.base+"/approvals/"+id, url.Values{"token": {r.token("/approvals/" + id)}, "decision": {"approve"}})
}

// rewrite replaces a text in the configuration of a home.
func (s *site) rewrite(from, to string) {
	s.t.Helper()
	config, err := os.ReadFile(s.home.ConfigPath())
	if err != nil {
		s.t.Fatal(err)
	}
	changed := strings.Replace(string(config), from, to, 1)
	if changed == string(config) {
		s.t.Fatalf("the configuration has no %q", from)
	}
	if err := os.WriteFile(s.home.ConfigPath(), []byte(changed), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// recorded returns the events of a kind in the audit record of a home, whose chain must be whole.
func (s *site) recorded(kind audit.Kind) (list []audit.Event) {
	s.t.Helper()
	if _, err := audit.Verify(s.home.AuditPath(), func(e audit.Event, _ string) error {
		if e.Kind == kind {
			list = append(list, e)
		}
		return nil
	}); err != nil {
		s.t.Error(err)
	}
	return list
}

// The pages of daemons name the members that are missing, a job that awaits approval, the party's own opinion of it,
// what it has let out, and the result. The person who submitted the job cannot approve it, unless the home says so.
func TestThePagesOfDaemons(t *testing.T) {
	of := sites(t, "north", "east")
	boss, north, east := of["boss"], of["north"], of["east"]
	boss.report = func(w io.Writer, r *method.Result) error {
		_, err := fmt.Fprintf(w, "<title>the report of %s</title>", r.Job)
		return err
	}
	north.offerSmall(1)
	east.offerSmall(2)
	north.rewrite("protocols: [okra]", "protocols: [okra], approve: each")
	boss.offerPage()
	north.offerPage()
	boss.start()
	within(t, 2*noticed, "boss serves", func() bool { _, err := boss.overview(); return err == nil })
	hub := boss.read()
	hub.shows("/", "Missing: north, since")
	north.start()
	hub.shows("/", "Missing: east, since")
	east.start()
	hub.shows("/", "Nobody is missing. All 2 parties are connected.")
	party := north.read()

	pagesRejectAJob(boss, hub, party)
	pagesDecideAJob(boss, north, hub, party)
	pagesRefuseARelease(boss, north, party)
	pagesDecideARelease(boss, north, party)
	aCoordinatorShowsItsRecord(boss, hub)
	aPageAsksForRoles(north, party)
	aPageTakesARestart(east)
	began := time.Now()
	east.halt()
	hub.shows("/", "Missing: east, since")
	if took := time.Since(began); took > noticed {
		t.Errorf("east is named after %v", took)
	}
}

// pagesRejectAJob rejects a job on the page of a party. The page of the coordinator has the party and its reason.
func pagesRejectAJob(boss *site, hub, party *reader) {
	t := boss.t
	t.Helper()
	id := boss.submit([]byte(smallJob))
	party.shows("/approvals", "Job small waits for this party")
	form := url.Values{"token": {party.token("/approvals/" + id)}, "decision": {"reject"}, "reason": {"no <ethics> vote"}}
	if status, body := party.ask(http.MethodPost, party.base+"/approvals/"+id, form); status != http.StatusOK || !strings.Contains(body, "Job small is rejected.") {
		t.Errorf("%d %s", status, body)
	}
	if j := boss.wait(id); j.Failure == nil || j.Failure.Code != fault.CodePolicy {
		t.Fatalf("%+v", j.Failure)
	}
	hub.shows("/jobs/"+id, "the operator of north has rejected it.")
	hub.shows("/jobs/"+id, "<td>no &lt;ethics&gt; vote</td>")
}

// pagesDecideAJob follows a job on the pages of its coordinator and of a party, from its submission to its result.
func pagesDecideAJob(boss, north *site, hub, party *reader) {
	t := boss.t
	t.Helper()
	id := boss.submit([]byte(smallJob))
	party.shows("/approvals", "Job small waits for this party")
	party.shows("/approvals/"+id, "Encoded rows: the coordinator can learn the product of every two of these rows")
	party.shows("/approvals/"+id, "the ledger holds no earlier release that reveals more")
	hub.shows("/jobs/"+id, "the approval of north")
	if status, body := party.approve(id); status != http.StatusForbidden || !strings.Contains(body, "who submitted this job. Somebody else has to decide.") {
		t.Errorf("%d %s", status, body)
	}
	north.configure(t, fmt.Sprintf("roles: {administrator: {uids: [%d]}, alone: true}\n", os.Getuid()))
	north.reloads()
	if status, body := party.approve(id); status != http.StatusOK || !strings.Contains(body, "Job small is approved.") {
		t.Errorf("%d %s", status, body)
	}
	if j := boss.wait(id); j.Failure != nil {
		t.Fatalf("%+v", j.Failure)
	}
	approvals := north.recorded(audit.Approved)
	if len(approvals) != 1 {
		t.Errorf("the record has %d approvals", len(approvals))
	}
	for _, e := range approvals {
		if e.By == nil || e.By.UID == nil || *e.By.UID != os.Getuid() || !e.Alone {
			t.Errorf("%+v", e)
		}
	}
	party.shows("/audit", "1 job let data out of this home")
	party.shows("/audit", "user "+strconv.Itoa(os.Getuid())+" at north, who may have submitted it")
	hub.shows("/reports", "This home has 1 result.")
	hub.shows("/reports/"+id, "the report of small")
	if status, _ := party.ask(http.MethodGet, party.base+"/reports/"+id, nil); status != http.StatusNotFound {
		t.Errorf("a report that only the coordinator has: %d", status)
	}
}

// scaledJob is a job whose release differs from that of smallJob over the same rows, so that it awaits approval.
var scaledJob = strings.NewReplacer("name: small}", "name: scaled}", "scale: none", "scale: minmax").Replace(smallJob)

// pagesRefuseARelease refuses the release of a job on the page of a party. The view names the earlier job and its columns.
func pagesRefuseARelease(boss, north *site, party *reader) {
	t := boss.t
	t.Helper()
	boss.wait(boss.submit([]byte(scaledJob)))
	party.shows("/approvals", "A release of job scaled waits for this party")
	held, err := north.home.Releases().Awaiting()
	if err != nil || len(held) != 1 || len(held[0].Earlier) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	release := "/releases/" + held[0].ID
	party.shows(release, "an earlier release of job small it reveals more")
	party.shows(release, template.HTMLEscapeString(held[0].Earlier[0].Both))
	if held[0].Earlier[0].Both == "" {
		t.Errorf("%+v", held[0].Earlier)
	}
	form := url.Values{"token": {party.token(release)}, "decision": {"refuse"}, "reason": {"one column tells too much"}}
	if status, body := party.ask(http.MethodPost, party.base+release, form); status != http.StatusOK || !strings.Contains(body, "The release is refused.") {
		t.Errorf("%d %s", status, body)
	}
	if held, err := north.home.Releases().Awaiting(); err != nil || len(held) != 0 {
		t.Errorf("%+v, %v", held, err)
	}
	me := os.Getuid()
	if list := north.recorded(audit.ReleaseRefused); len(list) != 1 || list[0].Outcome != "one column tells too much" || list[0].By == nil || *list[0].By.UID != me || len(list[0].Releases) != 1 || list[0].Releases[0].ID != held[0].ID {
		t.Errorf("%+v", list)
	}
	party.shows("/audit", "one column tells too much")
}

// aCoordinatorShowsItsRecord compares the view of a coordinator's record with the record.
func aCoordinatorShowsItsRecord(boss *site, hub *reader) {
	t := boss.t
	t.Helper()
	submitted := boss.recorded(audit.Submitted)
	if len(submitted) == 0 {
		t.Fatal("nothing is recorded")
	}
	hub.shows("/audit", fmt.Sprintf("%d jobs were submitted.", len(submitted)))
	hub.shows("/audit", submitted[0].By.String())
	hub.shows("/audit", "for north, east")
}

// pagesDecideARelease submits a job whose release awaits approval, and approves it on the page of a party.
func pagesDecideARelease(boss, north *site, party *reader) {
	t := boss.t
	t.Helper()
	boss.wait(boss.submit([]byte(scaledJob)))
	party.shows("/approvals", "A release of job scaled waits for this party")
	held, err := north.home.Releases().Awaiting()
	if err != nil || len(held) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	release := "/releases/" + held[0].ID
	party.shows(release, "What the releases reveal together")
	me := os.Getuid()
	asker, own := held[0].AskedBy(access.Person{Member: "north", UID: &me})
	if !own || asker.Submitter.Member != "boss" || held[0].Table == "" {
		t.Errorf("%+v, %t", held[0], own)
	}
	if status, body := party.ask(http.MethodPost, party.base+release, url.Values{"token": {party.token(release)}, "decision": {"approve"}}); status != http.StatusOK || !strings.Contains(body, "The release is approved. Submit job scaled again") {
		t.Errorf("%d %s", status, body)
	}
	if held, err := north.home.Releases().Awaiting(); err != nil || len(held) != 0 {
		t.Errorf("%+v, %v", held, err)
	}
	if !slices.ContainsFunc(north.recorded(audit.ReleaseApproved), func(e audit.Event) bool {
		return len(e.Releases) == 1 && e.Releases[0].ID == held[0].ID && e.By != nil && e.Alone && e.Submitter != nil && e.Submitter.Member == "boss" && e.Job == asker.Job && e.Table == held[0].Table
	}) {
		t.Error("the record lacks the approval of the release")
	}
}

// aPageAsksForRoles takes the role of the user of the test away. The user sees nothing, with the session as before.
func aPageAsksForRoles(north *site, party *reader) {
	t := north.t
	t.Helper()
	north.rewrite(fmt.Sprintf("uids: [%d]", os.Getuid()), fmt.Sprintf("uids: [%d]", os.Getuid()+1))
	north.reloads()
	if status, body := party.ask(http.MethodGet, party.base+"/", nil); status != http.StatusUnauthorized || strings.Contains(body, "north") {
		t.Errorf("without a role: %d %s", status, body)
	}
	if _, err := north.client().Invite(t.Context()); fault.CodeOf(err) != fault.CodePolicy {
		t.Errorf("an invitation without a role: %v", err)
	}
}

// aPageTakesARestart asks a daemon without a page for one, before and after its configuration has one.
func aPageTakesARestart(east *site) {
	t := east.t
	t.Helper()
	if _, err := east.client().Invite(t.Context()); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "this home has no web page; write \"page: {listen: 127.0.0.1:9470}\" into") {
		t.Errorf("a home without a page: %v", err)
	}
	east.offerPage()
	if err := east.client().Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "\"page\" or \"audit\"; start the daemon again to use it") {
		t.Errorf("%v", err)
	}
}

// A setting that would let strangers in, or nobody, is refused with a sentence.
func TestSettingsOfThePage(t *testing.T) {
	const far = "page: {listen: 0.0.0.0:8443, url: https://mercer.example, certificate: c, key: k, oidc: "
	for text, want := range map[string]string{
		"page: {listen: 127.0.0.1:9470}": "",
		far + "{issuer: https://login.example, client: mercer, roles: {viewer: [all]}}}":                                                        "",
		"page: {listen: 127.0.0.1:9470, url: https://mercer.example, oidc: {issuer: https://login.example, client: m, roles: {viewer: [all]}}}": "",
		"page: {listen: 9470}":                                        `config.yaml:2: the setting "page" has "listen: 9470"; write a port on loopback`,
		"page: {listen: 127.0.0.1:0}":                                 "write a port on loopback",
		"page: {listen: 0.0.0.0:9470}":                                "which other machines can reach; write 127.0.0.1:9470, or add \"url\", \"certificate\", \"key\" and \"oidc\"",
		"page: {listen: ':9470'}":                                     "which other machines can reach",
		"page: {listen: 127.0.0.1:9470, url: https://mercer.example}": `without "oidc"; add "oidc", or remove them`,
		"page: {listen: 0.0.0.0:8443, url: https://mercer.example, oidc: {issuer: https://login.example, client: m, roles: {viewer: [all]}}}":                           "lacks \"certificate\" or \"key\"",
		"page: {listen: 0.0.0.0:8443, url: https://mercer.example, certificate: c, oidc: {issuer: https://login.example, client: m, roles: {viewer: [all]}}}":           "lacks \"certificate\" or \"key\"",
		"page: {listen: 0.0.0.0:8443, url: http://mercer.example, certificate: c, key: k, oidc: {issuer: https://login.example, client: m, roles: {viewer: [all]}}}":    `"url: http://mercer.example"; write the address that people open`,
		"page: {listen: 0.0.0.0:8443, url: https://mercer.example/x, certificate: c, key: k, oidc: {issuer: https://login.example, client: m, roles: {viewer: [all]}}}": "write the address that people open",
		far + "{issuer: http://login.example, client: m, roles: {viewer: [all]}}}":                                                                                      "write the provider's URL, which begins with https://",
		far + "{issuer: https://login.example, roles: {viewer: [all]}}}":                                                                                                `has no "client"`,
		far + "{issuer: https://login.example, client: m}}":                                                                                                             "gives nobody a role",
		far + "{issuer: https://login.example, client: m, roles: {viewer: ['']}}}":                                                                                      "empty name of a group",
		far + "{issuer: https://login.example, client: m, roles: {boss: [all]}}}":                                                                                       "boss",
	} {
		_, err := config(t, "name: north\n"+text+"\n")
		if want == "" && err != nil || want != "" && (fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The secret of a client is in a file that only the daemon's user can read.
func TestSecretOfTheClient(t *testing.T) {
	h := At(t.TempDir())
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(h.path(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("good", "s3cret\n", 0o600)
	write("open", "s3cret\n", 0o644)
	write("empty", "\n", 0o600)
	write("long", strings.Repeat("x", maxSecret+1), 0o600)
	if got, err := h.clientSecret("good"); got != "s3cret" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := h.clientSecret(""); got != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, want := range map[string]string{"open": "can be read by other users; run chmod 600", "empty": "is empty", "long": "has more than 4096 bytes", "none": "cannot be read"} {
		if _, err := h.clientSecret(name); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// certificate writes a certificate for 127.0.0.1 and its key, and returns a pool with the certificate.
func certificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(nil, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for name, block := range map[string]*pem.Block{"page.crt": {Type: "CERTIFICATE", Bytes: der}, "page.key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return pool
}

// A daemon serves its page by TLS to people who log in at the provider of its configuration, and mercer page names the
// address.
func TestLoginAtADaemon(t *testing.T) {
	provider, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := provider.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	boss := sites(t, "north", "east")["boss"]
	at, err := endpoint.Unused()
	if err != nil {
		t.Fatal(err)
	}
	pool := certificate(t, boss.home.folder)
	if err := os.WriteFile(boss.home.path("oidc.secret"), []byte(provider.ClientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	boss.configure(t, fmt.Sprintf("page:\n  listen: %s\n  url: https://%s\n  certificate: page.crt\n  key: page.key\n  oidc:\n    issuer: %s\n    client: %s\n    secret: oidc.secret\n    authorities: page.crt\n    scopes: [groups]\n    roles: {viewer: [staff]}\n",
		at, at, provider.Issuer(), provider.ClientID))
	boss.start()
	within(t, 2*noticed, "boss serves", func() bool { _, err := boss.overview(); return err == nil })
	i, err := boss.client().Invite(t.Context())
	if err != nil || i.URL != "https://"+at+"/" {
		t.Fatalf("%+v, %v", i, err)
	}
	for _, c := range []struct {
		group  string
		status int
		want   string
	}{{"staff", http.StatusOK, "Your session has begun."}, {"guests", http.StatusForbidden, "none of your groups has a role here"}} {
		provider.QueueUser(&mockoidc.MockUser{Subject: "mara", Groups: []string{c.group}})
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &reader{t: t, http: &http.Client{Jar: jar, Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}}
		status, body := r.ask(http.MethodGet, i.URL+"login", nil)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.group, status, body)
		}
		if found := regexp.MustCompile(`url=(/[A-Z2-7]+)/"`).FindStringSubmatch(body); found != nil {
			r.base = "https://" + at + found[1]
			r.shows("/", "mara of "+provider.Issuer()+" at boss (viewer)")
		}
		r.http.CloseIdleConnections()
	}
}

// Others than the daemon's user cannot read the key of a page.
func TestKeyOfThePage(t *testing.T) {
	h := At(t.TempDir())
	certificate(t, h.folder)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test's port
	files := Page{Certificate: "page.crt", Key: "page.key"}
	if _, err := h.secured(l, files); err != nil {
		t.Error(err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660} {
		if err := os.Chmod(h.path("page.key"), mode); err != nil {
			t.Fatal(err)
		}
		if _, err := h.secured(l, files); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "the key of the page, can be read by other users; run chmod 600 ") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
}

// A coordinator that reads its home again takes over all or nothing: it refuses changes of other settings than roles, and
// then its roles stay as they were. Its record has each reading that takes effect.
func TestACoordinatorReloadsAllOrNothing(t *testing.T) {
	boss := sites(t, "north", "east")["boss"]
	mine := fmt.Sprintf("roles: {administrator: {uids: [%d]}}\n", os.Getuid())
	boss.configure(t, mine)
	config, err := os.ReadFile(boss.home.ConfigPath())
	if err != nil {
		t.Fatal(err)
	}
	boss.start()
	within(t, 2*noticed, "boss serves", func() bool { _, err := boss.overview(); return err == nil })
	widened := strings.Replace(string(config), mine, fmt.Sprintf("roles: {administrator: {uids: [%d]}, viewer: {uids: [4711]}}\n", os.Getuid()), 1)
	reload := func(text string) error {
		t.Helper()
		if err := os.WriteFile(boss.home.ConfigPath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return boss.client().Reload(t.Context())
	}
	readings := func() int { return len(boss.recorded(audit.Reloaded)) }
	for _, other := range []string{"page: {listen: 127.0.0.1:9470}", "audit: {syslog: 'unix:///nobody/listens'}", "retention: 30d", "max_running_jobs: 3"} {
		if err := reload(widened + other + "\n"); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "has new values of settings other than \"roles\"; start the coordinator again to use them") {
			t.Errorf("%s: %v", other, err)
		}
	}
	if n := readings(); n != 0 {
		t.Errorf("readings without effect are in the record: %d", n)
	}
	if err := reload(widened); err != nil || readings() != 1 {
		t.Errorf("%v, %d readings in the record", err, readings())
	}
}

// Roles do not take effect if the roster cannot.
func TestRolesWaitForTheRoster(t *testing.T) {
	boss := sites(t, "north", "east")["boss"]
	id, c, err := boss.home.open(all.Reader())
	if err != nil {
		t.Fatal(err)
	}
	members, err := boss.home.readMembers(c, id)
	if err != nil {
		t.Fatal(err)
	}
	m := boss.home.newMembership(all.Reader(), c, id, members, slog.New(slog.DiscardHandler))
	record, err := audit.Open(boss.home.AuditPath())
	if err != nil {
		t.Fatal(err)
	}
	boss.configure(t, fmt.Sprintf("roles: {administrator: {uids: [%d]}}\n", os.Getuid()))
	broker, err := nats.Start(t.Context(), nats.Config{Host: "127.0.0.1", Dir: t.TempDir(), Center: c.Name, Members: loginsOf(members)[:1], Logger: m.log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := broker.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := m.reload(ended, running{broker: broker, record: record}); err == nil {
		t.Fatal("a broker takes the roster of a caller that has gone")
	}
	if rules := m.rules(); len(rules.Administrator.UIDs) != 0 {
		t.Errorf("%+v", rules)
	}
}

// A party forms one opinion at a time, and asks again soon after a failure that no policy and no ledger has caused.
func TestOpinionsAtADesk(t *testing.T) {
	d := newDesk(t.Context(), partyHome{}, nil)
	began, end := make(chan string), make(chan error)
	ask := func(job string) page.Opinion {
		return d.opinion(job, func() (party.Opinion, error) {
			began <- job
			return party.Opinion{}, <-end
		})
	}
	known := func(job string, err error) page.Opinion {
		t.Helper()
		if <-began != job {
			t.Fatal("another opinion is formed")
		}
		end <- err
		within(t, noticed, "the opinion on "+job, func() bool { return ask(job).Known })
		return ask(job)
	}
	for range 3 {
		if ask("a").Known || ask("b").Known {
			t.Fatal("an opinion is known at once")
		}
	}
	select { // only the one on a is being formed
	case job := <-began:
		if job != "a" {
			t.Fatal(job)
		}
	case <-time.After(noticed):
		t.Fatal("no opinion is formed")
	}
	select {
	case job := <-began:
		t.Fatalf("the opinion on %s is formed beside that on a", job)
	default:
	}
	end <- nil
	within(t, noticed, "the opinion on a", func() bool { return ask("a").Known })
	ask("b")
	if o := known("b", errors.New("the database is away")); !o.Refused || !strings.Contains(o.Said[0], "the database is away") {
		t.Errorf("%+v", o)
	}
	ask("c")
	if o := known("c", fault.Forbiddenf("the policy says no")); !o.Refused {
		t.Errorf("%+v", o)
	}
	for job, want := range map[string]time.Duration{"a": opinionTime, "b": failureTime, "c": opinionTime} {
		if left := time.Until(d.opinions[job].until); left > want || left < want-failureTime/2 {
			t.Errorf("the opinion on %s is kept for %v", job, left)
		}
	}
	d.opinions["b"].until = time.Now().Add(-time.Second)
	if ask("b").Known {
		t.Error("an opinion is kept for ever")
	}
	known("b", nil)
}

// An approver reads what the party cannot know, whatever the words, and not that the job awaits approval.
func TestAnOpinionInSentences(t *testing.T) {
	o := opinion{}
	o.enter(party.Opinion{Undecided: []string{"whether east, whose policy says approve: each, accepts"}, AwaitsApproval: true}, nil)
	if o.Refused || len(o.Said) != 2 || o.Said[1] != "Not known here: whether east, whose policy says approve: each, accepts." {
		t.Errorf("%+v", o)
	}
}

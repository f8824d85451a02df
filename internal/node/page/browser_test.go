package page

import (
	"github.com/mercer-fl/mercer/internal/node/access"

	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/mercer-fl/mercer/internal/node/overview"
)

// browser is a tab of a headless Chromium, which records what it asks for and complains of.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	asked      []string // URLs of requests
	complaints []string // lines of the console, such as violations of the policy
}

// chromium finds the program, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("MERCER_REQUIRE_CHROMIUM") != "" {
		t.Fatal("MERCER_REQUIRE_CHROMIUM is set, and neither chromium nor google-chrome is in the path")
	}
	t.Skip("NOT TESTED in a browser, since neither chromium nor google-chrome is in the path")
	return ""
}

// browse starts a browser that ends with the test.
func browse(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(2*time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	limited, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	allocated, end := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(end)
	b := &browser{t: t}
	ctx, done := chromedp.NewContext(allocated, chromedp.WithListener(b.note))
	t.Cleanup(done)
	b.ctx = ctx
	b.do(chromedp.Navigate("about:blank"))
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	return b
}

// note records an event of the browser.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	}
}

// do runs steps.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value runs an action, and returns its value.
func value[T any](b *browser, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// call sends a command of the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	r, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// script returns the value of an expression of JavaScript, after its promise if it is one.
func script[T any](b *browser, expression string) T {
	b.t.Helper()
	return value(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// enter opens a page by an invitation, and returns the URL of the session's folder.
func (b *browser) enter(s *served, who Visitor) string {
	b.t.Helper()
	path, err := s.Invite(who)
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate(s.url+path), chromedp.WaitVisible(chromedp.CSS("#links")))
	return strings.TrimSuffix(value(b, chromedp.Location()), "/")
}

// text returns the text of an element.
func (b *browser) text(selector string) string {
	b.t.Helper()
	return strings.Join(strings.Fields(value(b, chromedp.Text(chromedp.CSS(selector)))), " ")
}

// until waits for an element to have a text.
func (b *browser) until(selector, want string) {
	b.t.Helper()
	quoted, err := json.Marshal([]string{selector, want})
	if err != nil {
		b.t.Fatal(err)
	}
	condition := fmt.Sprintf("document.querySelector(%s[0])?.innerText.includes(%s[1]) === true", quoted, quoted)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // also while another page loads
		if is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](condition)); is && err == nil {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("%s never has %q, but %q", selector, want, b.text(selector))
		}
	}
}

// quiet checks that the browser asked nobody but the page, and had nothing to complain of.
func (b *browser) quiet(s *served) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.asked) == 0 {
		b.t.Error("no request was seen")
	}
	for _, url := range b.asked {
		if !strings.HasPrefix(url, s.url+"/") {
			b.t.Errorf("the browser asked for %s", url)
		}
	}
	for _, line := range b.complaints {
		if !strings.Contains(line, "favicon.ico") {
			b.t.Errorf("the browser says: %s", line)
		}
	}
}

// The view of the federation follows the daemon without a reload, keeps the keyboard's focus, and asks no other host.
func TestInABrowserNumbersChange(t *testing.T) {
	b := browse(t)
	h := coordinatorHome(t)
	s := open(t, h, nil, visitor(access.Viewer))
	base := b.enter(s, visitor(access.Viewer))
	b.until("#said", "Missing: east")
	script[string](b, "document.body.dataset.mark = 'not loaded again'")
	b.do(chromedp.Focus(chromedp.CSS("#link-Jobs")))
	h.change(func(o *overview.Overview) {
		o.Members[1].Connected = true
		o.Jobs[1].Waiting, o.Awaiting = nil, nil
		o.Jobs = append(o.Jobs, overview.Job{ID: strings.Repeat("ef", 16), Name: "new", State: overview.Queued, Submitted: time.Now(), Parties: []string{"north"}})
	})
	b.until("#said", "Nobody is missing")
	b.until("#link-Jobs", "Jobs 2")
	if mark, focused := script[string](b, "document.body.dataset.mark"), script[string](b, "document.activeElement.id"); mark != "not loaded again" || focused != "link-Jobs" {
		t.Errorf("mark %q, the focus is on %q", mark, focused)
	}
	b.do(chromedp.Navigate(base+"/jobs/"+jobID), chromedp.WaitVisible(chromedp.CSS("#live table")))
	h.change(func(o *overview.Overview) { o.Jobs[1].Stage = "scoring" })
	b.until("#live", "scoring")
	b.quiet(s)
}

// A person approves by the mouse and rejects by the keyboard, also without scripts. A viewer and the submitter find no
// button, and a request that a script of theirs sends is refused.
func TestInABrowserDeciding(t *testing.T) {
	b := browse(t)
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Viewer))
	approve := `fetch(location.href, {method: "POST", body: new URLSearchParams({token: document.querySelector("[name=token]").value, decision: "approve"})}).then((r) => r.status)`
	nobody := func(who Visitor, may int, why string) {
		t.Helper()
		base := b.enter(s, who)
		b.do(chromedp.Navigate(base+"/approvals/"+jobID), chromedp.WaitVisible(chromedp.CSS("#decision")))
		buttons, status := script[int](b, `document.querySelectorAll("main button").length`), script[int](b, approve)
		if said := b.text("main"); buttons != may || status != 403 || !strings.Contains(said, why) || len(h.decisions()) != 0 {
			t.Errorf("%d buttons, status %d, decided %q: %s", buttons, status, h.decisions(), said)
		}
	}
	nobody(visitor(access.Viewer), 0, "You do not have the role approver")
	nobody(visitor(access.Submitter), 0, "You do not have the role approver")
	own := visitor(access.Approver, access.Submitter)
	own.Person = *h.review.Submitter
	nobody(own, 1, "who submitted this job")

	base := b.enter(s, visitor(access.Approver))
	b.do(chromedp.Navigate(base+"/approvals/"+jobID), chromedp.Click(chromedp.CSS("main button[value=approve]")))
	b.until("#said", "Job tumours is approved.")
	b.do(chromedp.Navigate(base+"/approvals/"+jobID), chromedp.Focus(chromedp.CSS("#reason")), chromedp.KeyEvent("no ethics vote"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	b.until("#said", "Job tumours is rejected.")
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(base+"/releases/"+releaseID), chromedp.Click(chromedp.CSS("main button[value=approve]")))
	want := []string{"approve " + jobID + " by user 7 at north", "reject " + jobID + " by user 7 at north: no ethics vote", "release " + releaseID + " by user 7 at north"}
	h.hasDecided(t, want)
	b.do(chromedp.Navigate(base+"/releases/"+releaseID), chromedp.Focus(chromedp.CSS("#reason")), chromedp.KeyEvent("too few"), chromedp.Click(chromedp.CSS("main button[value=refuse]")))
	h.hasDecided(t, append(want, "refuse "+releaseID+" by user 7 at north: too few"))
}

// hasDecided waits for decisions, which a browser sends in the background.
func (h *home) hasDecided(t *testing.T, want []string) {
	t.Helper()
	for range 100 {
		if len(h.decisions()) == len(want) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if got := h.decisions(); !slices.Equal(got, want) {
		t.Errorf("decided %q", got)
	}
}

// A report opens in its own look, in a sandbox without scripts, and the browser has nothing to complain of.
func TestInABrowserReport(t *testing.T) {
	b := browse(t)
	h := partyHome(t)
	s := open(t, h, h, visitor(access.Viewer))
	base := b.enter(s, visitor(access.Viewer))
	b.do(chromedp.Navigate(base+"/reports"), chromedp.Click(chromedp.CSS("#report-"+jobID)))
	b.until("h1", "tumours")
	if colour, origin := script[string](b, `getComputedStyle(document.querySelector("h1")).color`), script[string](b, "self.origin"); colour != "rgb(0, 128, 0)" || origin != "null" {
		t.Errorf("colour %s, origin %s", colour, origin)
	}
	b.quiet(s)
}

// paths lists the views of a party and of a coordinator.
func paths(party bool) []string {
	if party {
		return []string{"/", "/jobs", "/jobs/" + jobID, "/approvals", "/approvals/" + jobID, "/releases/" + releaseID, "/audit", "/reports", "/dictionaries", "/dictionaries/" + strings.Repeat("ab", 32)}
	}
	return []string{"/", "/jobs", "/jobs/" + jobID, "/jobs/" + rejected, "/audit"}
}

// eachView calls f on every view of a party and of a coordinator.
func eachView(t *testing.T, b *browser, f func(name string)) {
	t.Helper()
	party, boss := partyHome(t), coordinatorHome(t)
	for _, c := range []struct {
		name string
		s    *served
	}{{"party", open(t, party, party, visitor(access.Approver))}, {"coordinator", open(t, boss, nil, visitor(access.Viewer))}} {
		base := b.enter(c.s, visitor(access.Approver))
		for _, path := range paths(c.name == "party") {
			b.do(chromedp.Navigate(base+path), chromedp.WaitVisible(chromedp.CSS("#said")))
			f(c.name + strings.ReplaceAll(strings.NewReplacer(jobID, "ID", releaseID, "ID", rejected, "REJECTED", strings.Repeat("ab", 32), "HASH").Replace(path), "/", "-"))
		}
	}
}

// interactive selects the elements that a person uses.
const interactive = `a[href], button, input:not([type=hidden]), select, summary`

// Every interactive element of every view is reached by the key Tab, and the accessibility tree has one of each
// landmark, one heading of the first level, and a name for every control.
func TestInABrowserKeyboardAndNames(t *testing.T) {
	b := browse(t)
	eachView(t, b, func(name string) {
		describe := `const describe = (e) => e.tagName + " " + (e.id || e.getAttribute("href") || e.value || e.innerText);`
		all := script[[]string](b, `(() => { `+describe+` return Array.from(document.querySelectorAll("`+interactive+`")).map(describe) })()`)
		var reached []string
		for range all {
			b.do(chromedp.KeyEvent(kb.Tab))
			reached = append(reached, script[string](b, `(() => { `+describe+` return describe(document.activeElement) })()`))
		}
		for _, one := range all {
			if !slices.Contains(reached, one) {
				t.Errorf("%s: the key Tab does not reach %s, but %q", name, one, reached)
			}
		}
		b.checkNames(name)
	})
}

// checkNames checks the accessibility tree.
func (b *browser) checkNames(view string) {
	b.t.Helper()
	count := make(map[string]int)
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		role := valueOf(n.Role)
		if count[role]++; slices.Contains([]string{"link", "button", "textbox", "combobox", "navigation"}, role) && !n.Ignored && valueOf(n.Name) == "" {
			b.t.Errorf("%s: a %s has no name", view, role)
		}
	}
	for _, landmark := range []string{"banner", "navigation", "main", "contentinfo"} {
		if count[landmark] != 1 {
			b.t.Errorf("%s: %d landmarks %s, want 1", view, count[landmark], landmark)
		}
	}
	if headings := script[int](b, `document.querySelectorAll("h1").length`); headings != 1 {
		b.t.Errorf("%s: %d headings of the first level", view, headings)
	}
}

// valueOf returns the text of a value of the accessibility tree.
func valueOf(v *accessibility.Value) (text string) {
	if v != nil {
		_ = json.Unmarshal(v.Value, &text) // a value that is no text counts as none
	}
	return text
}

// violation is something that the program axe has found.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML string `json:"html"`
		Why  string `json:"failureSummary"`
	} `json:"nodes"`
}

// The program axe finds nothing serious in any view, in light on a wide screen and in dark on a telephone.
func TestInABrowserAxe(t *testing.T) {
	path := os.Getenv("MERCER_AXE")
	if path == "" {
		t.Skip("NOT TESTED by axe, since MERCER_AXE does not name axe.min.js")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := browse(t)
	for scheme, width := range map[string]int64{"light": 1280, "dark": 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		eachView(t, b, func(name string) {
			b.do(chromedp.Evaluate[chromedp.Void](string(axe)))
			for _, v := range script[[]violation](b, `axe.run().then((r) => r.violations)`) {
				if v.Impact == "serious" || v.Impact == "critical" {
					t.Errorf("%s, %s: %s: %s: %v", name, scheme, v.ID, v.Help, v.Nodes)
				} else {
					t.Logf("%s, %s: %s, %s: %v", name, scheme, v.Impact, v.Help, v.Nodes)
				}
			}
		})
	}
}

// No view is wider than its window, on a wide screen and on a telephone. With MERCER_PICTURES the test writes a picture
// of each.
func TestInABrowserWidths(t *testing.T) {
	b := browse(t)
	folder := os.Getenv("MERCER_PICTURES")
	for _, width := range []int64{1280, 390} {
		b.do(chromedp.EmulateViewport(width, 900))
		eachView(t, b, func(name string) {
			if over := script[int](b, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
				t.Errorf("%s at %d pixels is too wide, by %d", name, width, over)
			}
			if folder == "" {
				return
			}
			picture := value(b, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d.png", name, width)), picture, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

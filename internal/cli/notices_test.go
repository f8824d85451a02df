package cli

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// judged is an outcome with a verdict, scores, privacy and a file.
func judged() outcome {
	return outcome{
		Result: &method.Result{
			Metrics: learner.Metrics{"accuracy": 0.5}, HeldOut: 4, Training: 8, Warnings: []string{"two rows are equal"},
			Exposures: map[string]protocol.Exposure{"server": {Reach: protocol.ReachNone, Why: "nothing leaves"}},
		},
		Report: "out/report.html",
	}
}

// inOrder reports whether the text contains all parts, one after the other.
func inOrder(text string, parts ...string) bool {
	for _, part := range parts {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// A person reads the verdict first, then the scores, privacy, all notices, and the files.
func TestNoticesFollowTheResult(t *testing.T) {
	var out bytes.Buffer
	a := testApp(&out, &out)
	a.notices.add("warning: the job is for tests")
	a.notices.add("warning: the job is for tests") // the second run of a repeated job
	a.notices.ofParty("south", []string{"column age is far"})
	if err := a.succeed("simulate", judged()); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !inOrder(text, "model is right", "who learns", "reconstruct rows", "\n\nwarning: two rows are equal\nwarning: the job is for tests\nnotice to south's operator alone: column age is far\n\n", "report: out") {
		t.Errorf("order of %s", text)
	}
	if n := strings.Count(text, "for tests"); n != 1 {
		t.Errorf("the notice of two runs is there %d times", n)
	}
}

// Many notices to operators become one line, and --verbose prints them.
func TestManyNoticesAreCounted(t *testing.T) {
	var n notices
	var parties sync.WaitGroup
	for _, party := range []string{"west", "east", "north", "south"} {
		parties.Go(func() { n.ofParty(party, []string{"rare values", "rare values"}) })
	}
	parties.Wait()
	list := n.take()
	if got := list.brief(); !slices.Equal(got, []string{"4 notices to parties' operators (--verbose)"}) {
		t.Errorf("brief: %q", got)
	}
	for verbose, want := range map[bool]string{false: "4 notices", true: "notice to east's operator alone: rare values\nnotice to north's"} {
		var out strings.Builder
		o := judged()
		o.verbose = verbose
		if err := o.with(list).Print(&out); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("verbose %t, error %v: no %q in %s", verbose, err, want, out.String())
		}
	}
	if rest := n.take(); rest.brief() != nil {
		t.Errorf("taken twice: %q", rest)
	}
}

// An error that ends a command comes before its notices. With --json, notices go to stderr, and the
// document has none.
func TestNoticesBesideErrorsAndDocuments(t *testing.T) {
	var out, told bytes.Buffer
	a := testApp(&out, &told)
	a.notices.add("warning: before")
	if err := a.fail("simulate", usage("no such file")); err != nil {
		t.Fatal(err)
	}
	if told.String() != "mercer: no such file\nwarning: before\n" {
		t.Errorf("stderr %q", told.String())
	}
	for name, end := range map[string]func(a *app) error{
		"done":   func(a *app) error { return a.succeed("simulate", judged()) },
		"failed": func(a *app) error { return a.fail("simulate", usage("no such file")) },
	} {
		out.Reset()
		told.Reset()
		a.json = true
		a.notices.add("warning: before")
		if err := end(a); err != nil || told.String() != "warning: before\n" || strings.Contains(out.String(), "before") {
			t.Errorf("%s: error %v, stderr %q, document %s", name, err, told.String(), out.String())
		}
	}
}

// A result that prints no notices leaves them on stderr.
func TestNoticesOfOtherResults(t *testing.T) {
	var told bytes.Buffer
	a := testApp(io.Discard, &told)
	a.notices.add("warning: renamed")
	if err := a.succeed("job show", plainText{"x"}); err != nil || told.String() != "warning: renamed\n" {
		t.Errorf("error %v, stderr %q", err, told.String())
	}
}

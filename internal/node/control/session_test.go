package control

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/protocol"
)

func proposal() *Proposal {
	return &Proposal{Job: job.ID{1}, Spec: []byte("kind: Job\n"), Stage: 1, Descriptor: protocol.Descriptor{
		Protocol: "okra", Version: 1, Params: []byte{1}, Purpose: "train",
		Members: []protocol.Member{{Name: "coordinator", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleLeader}},
	}}
}

// A proposal carries who submitted the job. Without that it is as earlier builds wrote it.
func TestSubmitterOfAProposal(t *testing.T) {
	uid := 1004
	p := proposal()
	plain := p.Encode()
	p.Submitter = access.Person{Member: "hub", Machine: "m", UID: &uid}
	for _, c := range []struct {
		b    []byte
		want string
	}{{plain, "somebody unknown"}, {p.Encode(), "user 1004 at hub"}} {
		got, err := DecodeProposal(c.b)
		if err != nil || got.Submitter.String() != c.want || !bytes.Equal(got.Encode(), c.b) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	var w wire.Writer
	access.Person{UID: &uid}.Write(&w)
	for _, b := range [][]byte{append(bytes.Clone(plain), w.Bytes()...), append(bytes.Clone(plain), 0), append(p.Encode(), 0)} {
		if _, err := DecodeProposal(b); err == nil {
			t.Errorf("%x was read", b[len(plain):])
		}
	}
}

// A record carries what orders it. Without that it is as earlier builds wrote it.
func TestStepsOfARecord(t *testing.T) {
	plain := Record{Head: [32]byte{1}, Nonce: [32]byte{2}}
	full := Record{Head: [32]byte{1}, Nonce: [32]byte{2}, Steps: 3, Origin: [32]byte{4}}
	for _, r := range []Record{plain, full, {Asks: true, Nonce: [32]byte{5}}} {
		if got, err := DecodeRecord(r.Encode()); err != nil || got != r {
			t.Errorf("%+v, %v; want %+v", got, err, r)
		}
	}
	if n := len(plain.Encode()); n != 65 {
		t.Errorf("without steps, a record has %d bytes", n)
	}
	zero := append(plain.Encode(), make([]byte, 40)...)
	for _, b := range [][]byte{zero, full.Encode()[:72], full.Encode()[:104], append(full.Encode(), 0)} {
		if _, err := DecodeRecord(b); err == nil {
			t.Errorf("%x was read", b[65:])
		}
	}
}

// A decoded message encodes to the same bytes; anything else is rejected.
func TestHoldingsAndForgotten(t *testing.T) {
	h := Holdings{{job.ID{1}, true}, {job.ID{2}, false}}
	if got, err := DecodeHoldings(h.Encode()); err != nil || !slices.Equal(got, h) {
		t.Errorf("%v, %v", got, err)
	}
	f := &Forgotten{Job: job.ID{3}, Gone: []string{"predictor", "alignment"}}
	if got, err := DecodeForgotten(f.Encode()); err != nil || got.Job != f.Job || !slices.Equal(got.Gone, f.Gone) {
		t.Errorf("%+v, %v", got, err)
	}
	many := make(Holdings, MaxHoldings+1)
	if _, err := DecodeHoldings(many.Encode()); err == nil {
		t.Error("more holdings than one message may have")
	}
	f.Gone = make([]string, maxItems+1)
	if _, err := DecodeForgotten(f.Encode()); err == nil {
		t.Error("more items than a party may list")
	}
}

func TestRoundTrips(t *testing.T) {
	p := proposal()
	if back, err := DecodeProposal(p.Encode()); err != nil || cmp.Diff(p, back) != "" {
		t.Errorf("proposal: %v %s", err, cmp.Diff(p, back))
	}
	f := &Refusal{fault.Notice{Code: fault.CodePolicy, Text: "no"}}
	if back, err := DecodeRefusal(f.Encode()); err != nil || *back != *f {
		t.Errorf("refusal: %v %v", back, err)
	}
	r := &Report{Notice: fault.Notice{Code: fault.CodeMisbehaved, Text: "lies"}, Blamed: "south", PID: 7, Sent: 1, Received: 2, CPU: 3.5, PeakRSS: 4, Facts: method.Facts{Known: true, Grid: method.AllGrid, Features: 9}}
	if back, err := DecodeReport(r.Encode()); err != nil || *back != *r {
		t.Errorf("report: %v %v", back, err)
	}
	r.Word = learner.TooFew
	if back, err := DecodeReport(r.Encode()); err != nil || *back != *r {
		t.Errorf("report with a word: %v %v", back, err)
	}
	r.Text, r.Trouble = "", fault.Magnitude
	if back, err := DecodeReport(r.Encode()); err != nil || *back != *r {
		t.Errorf("report with a trouble: %v %v", back, err)
	}
	for _, trouble := range []byte{byte(fault.NoTrouble), 0xff} {
		b := r.Encode()
		b[len(b)-1] = trouble
		if _, err := DecodeReport(b); err == nil {
			t.Errorf("the trouble %d is accepted", trouble)
		}
		b = (&Refusal{r.Notice}).Encode()
		b[1] = trouble
		if back, err := DecodeRefusal(b); trouble != 0 && err == nil {
			t.Errorf("the trouble %d of a refusal is accepted: %v", trouble, back)
		}
	}
	if back, err := DecodeRefusal((&Refusal{r.Notice}).Encode()); err != nil || back.Notice != r.Notice || back.Sentence() != fault.Magnitude.Sentence() {
		t.Errorf("refusal with a trouble: %v %v", back, err)
	}
	r.Text = "3.14 in row 5"
	if _, err := DecodeReport(r.Encode()); err == nil {
		t.Error("a trouble with words beside it is accepted in a report")
	}
	if _, err := DecodeRefusal((&Refusal{r.Notice}).Encode()); err == nil {
		t.Error("a trouble with words beside it is accepted in a refusal")
	}
	r.Text, r.Trouble = "lies", fault.NoTrouble
	for _, word := range []byte{byte(learner.Denied), byte(learner.Allowed) + 1} {
		b := r.Encode()
		b[len(b)-1] = word
		if _, err := DecodeReport(b); err == nil {
			t.Errorf("the word %d is accepted", word)
		}
	}
	c := &Closing{job.ID{2}, "done", true, method.Closing{Classes: []string{"a", "b"}}}
	if back, err := DecodeClosing(c.Encode()); err != nil || cmp.Diff(c, back) != "" {
		t.Errorf("closing: %v %v", back, err)
	}
	p.Announced = []byte("counts")
	p.Inquiry = &Inquiry{Question{job.ID{3}, 10, [16]byte{4}, "newcomers"}, "north"}
	if back, err := DecodeProposal(p.Encode()); err != nil || cmp.Diff(p, back) != "" || !back.Predicts() {
		t.Errorf("proposal of an inquiry: %v %s", err, cmp.Diff(p, back))
	}
	q := &Question{job.ID{3}, 10, [16]byte{4}, ""}
	if back, err := DecodeQuestion(q.Encode()); err != nil || *back != *q {
		t.Errorf("question: %v %v", back, err)
	}
}

func TestLongReasonsAreClipped(t *testing.T) {
	f := &Refusal{fault.Notice{Code: fault.CodeFailed, Text: strings.Repeat("x", 1<<17)}}
	back, err := DecodeRefusal(f.Encode())
	if err != nil || len(back.Text) != 1<<10 {
		t.Fatalf("%d bytes, %v; want %d", len(back.Text), err, 1<<10)
	}
}

// Peers' texts are shown on terminals, so control characters are rejected.
func TestControlCharacters(t *testing.T) {
	f := &Refusal{fault.Notice{Code: fault.CodeFailed, Text: "a\x1b[31mred\nline \u202eback"}}
	back, err := DecodeRefusal(f.Encode())
	if err != nil || back.Text != "a [31mred line  back" {
		t.Errorf("an own text arrives as %q, %v", back.Text, err)
	}
	for what, text := range map[string]string{
		"a screen cleared": "\x1b[2J", "a line turned round": "a\u202eb", "a line of its own": "a\u2028b", "a page": strings.Repeat("x", 1<<10+1),
	} {
		var refusal, report wire.Writer
		refusal.Uint8(uint8(fault.CodeFailed))
		refusal.Uint8(uint8(fault.NoTrouble))
		refusal.String(text)
		if _, err := DecodeRefusal(refusal.Bytes()); err == nil || !strings.Contains(err.Error(), "cannot be printed") {
			t.Errorf("%s: a refusal gives %v", what, err)
		}
		report.Uint8(uint8(fault.CodeFailed))
		report.String("")
		report.String(text)
		report.Fixed(make([]byte, len((&Report{}).Encode())-5))
		if _, err := DecodeReport(report.Bytes()); err == nil || !strings.Contains(err.Error(), "cannot be printed") {
			t.Errorf("%s: a report gives %v", what, err)
		}
	}
	c := &Closing{Outcome: "done", Done: true, Closing: method.Closing{Classes: []string{"well", "\x1b]0;mine\a\x1b[2J"}}}
	if _, err := DecodeClosing(c.Encode()); err == nil {
		t.Error("classes with control characters are accepted")
	}
}

func key(b byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))
}

func TestDirectory(t *testing.T) {
	s, err := protocol.NewSession(proposal().Descriptor)
	if err != nil {
		t.Fatal(err)
	}
	identities := map[string]ed25519.PrivateKey{"coordinator": key(1), "north": key(2)}
	identity := func(name string) ed25519.PublicKey { return identities[name].Public().(ed25519.PublicKey) }
	good := func() Directory {
		return Directory{Accept(s.ID(), "coordinator", []byte("kc"), key(1)), Accept(s.ID(), "north", []byte("kn"), key(2))}
	}
	back, err := DecodeDirectory(good().Encode())
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Verify(s, identity, "north", []byte("kn"), 0); err != nil {
		t.Fatal(err)
	}
	away := Directory{good()[0], Acceptance{Member: "north"}}
	if back, err := DecodeDirectory(away.Encode()); err != nil || !back[1].Absent() || back.Verify(s, identity, "hub", nil, 1) != nil {
		t.Errorf("one may be absent: %v, %v", back, err)
	}
	if err := away.Verify(s, identity, "north", []byte("kn"), 1); err == nil {
		t.Error("absent by the directory, and there")
	}
	tests := map[string]func(Directory) Directory{
		"swapped key":       func(d Directory) Directory { d[0].Key = []byte("kx"); return d },
		"signed by another": func(d Directory) Directory { d[1] = Accept(s.ID(), "north", []byte("kn"), key(1)); return d },
		"of another session": func(d Directory) Directory {
			d[1] = Accept(protocol.SessionID{9}, "north", []byte("kn"), key(2))
			return d
		},
		"one missing":             func(d Directory) Directory { return d[:1] },
		"one absent":              func(d Directory) Directory { d[0] = Acceptance{Member: "coordinator"}; return d },
		"order":                   func(d Directory) Directory { d[0], d[1] = d[1], d[0]; return d },
		"another key for oneself": func(d Directory) Directory { d[1] = Accept(s.ID(), "north", []byte("old"), key(2)); return d },
	}
	for name, change := range tests {
		if err := change(good()).Verify(s, identity, "north", []byte("kn"), 0); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(proposal().Encode())
	f.Add((&Refusal{fault.Notice{Code: fault.CodePolicy, Text: "no"}}).Encode())
	f.Add((&Report{Notice: fault.Notice{Text: "x"}}).Encode())
	f.Add((&Closing{Outcome: "x"}).Encode())
	f.Add((&Question{Rows: 1}).Encode())
	f.Add((&Forget{job.ID{1}}).Encode())
	f.Add((&Forgotten{job.ID{1}, []string{"predictor"}}).Encode())
	f.Add(Holdings{{job.ID{1}, true}}.Encode())
	asked := proposal()
	asked.Inquiry = &Inquiry{Question{Rows: 3}, "north"}
	f.Add(asked.Encode())
	f.Add(Directory{Accept(protocol.SessionID{}, "a", []byte("k"), key(1))}.Encode())
	accepted := Accept(protocol.SessionID{}, "a", []byte("k"), key(1))
	f.Add(accepted.Encode())
	f.Add(Record{Steps: 1}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := DecodeProposal(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("proposal is not canonical")
		}
		if v, err := DecodeRefusal(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("refusal is not canonical")
		}
		if v, err := DecodeForgotten(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("forgotten is not canonical")
		}
		if v, err := DecodeRecord(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("record is not canonical")
		}
		if v, err := DecodeHoldings(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("holdings are not canonical")
		}
		if v, err := DecodeReport(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("report is not canonical")
		}
		if v, err := DecodeClosing(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("closing is not canonical")
		}
		if v, err := DecodeQuestion(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("question is not canonical")
		}
		if v, err := DecodeForget(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("forget is not canonical")
		}
		if v, err := DecodeAcceptance(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("acceptance is not canonical")
		}
		if v, err := DecodeDirectory(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("directory is not canonical")
		}
	})
}

// A coordinator finds the reason of an operator's rejection in a refusal, within the bounds of a reason, and in no other
// refusal.
func TestRejection(t *testing.T) {
	refusal := func(err error) *Refusal {
		t.Helper()
		back, err := DecodeRefusal(Refuse(err).Encode())
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	for given, want := range map[string]string{
		"no ethics vote": "no ethics vote", "": "", "red\x1b[31m": "red [31m", strings.Repeat("x", 1<<12): strings.Repeat("x", 1<<10-len(rejected)),
	} {
		f := refusal(fmt.Errorf("party: %w", Rejected(given)))
		if reason, is := f.Rejection(); !is || reason != want || f.Text != rejected+want {
			t.Errorf("%q: %q, %t of %q", given, reason, is, f.Text)
		}
	}
	for _, other := range []error{
		fault.Forbiddenf("kernel rbf is not allowed"), fault.Refused.Of(errors.New(rejected + "x")), fault.Publicf("%sx", rejected), fault.Forbiddenf("no: %sx", rejected),
	} {
		if reason, is := refusal(other).Rejection(); is {
			t.Errorf("%v is a rejection with the reason %q", other, reason)
		}
	}
}

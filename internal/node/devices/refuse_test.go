package devices

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/node/journal"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

const filmsText = `apiVersion: mercer/v1
kind: Job
metadata: {name: films}
spec:
  data:
    source: ratings
    partition: {by: devices}
    test: {every: 12}
  protocol: {name: fedcfk, items: [a, b, c, d, e, f, g, h, i, j, k, l]}
  kernel: {name: tanimoto}
  learner: {name: cf-komd}
  timeout: {join: 30s, round: 20s}
`

func keyOf(i int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
}

func publicOf(n int) (list []ed25519.PublicKey) {
	for i := range n {
		list = append(list, keyOf(i).Public().(ed25519.PublicKey))
	}
	return list
}

var authority = keyOf(99)

// enrolled enrols thirty devices for a job.
func enrolled(t testing.TB, text string) (*Enrolment, error) {
	t.Helper()
	return enrolledOf(t, text, 30)
}

func enrolledOf(t testing.TB, text string, devices int) (*Enrolment, error) {
	t.Helper()
	signed, err := Enrol(jobtest.Parse(t, text), publicOf(devices), authority)
	if err != nil {
		return nil, err
	}
	return Open(signed, authority.Public().(ed25519.PublicKey), all.Reader())
}

// A job that no devices can run is refused before anybody is enrolled.
func TestJobsThatNoDevicesRuns(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, want string }{
		"a job that names parties":      {"{by: devices}", "{by: devices, parties: [north, south]}", "the enrolment names the devices"},
		"a job without a catalogue":     {", items: [a, b, c, d, e, f, g, h, i, j, k, l]", "", "parties that each have their own list need one catalogue"},
		"a job that simulates losses":   {"{by: devices}", "{by: devices, dropout: 0.1}", `"dropout" is for mercer simulate only`},
		"a job of many splits":          {"{name: cf-komd}", "{name: cf-komd}\n  repeats: 3", "\"repeats\" is for mercer simulate"},
		"devices that are too unstable": {"{name: fedcfk,", "{name: fedcfk, dropped: 0.4,", `gather more people or lower "dropped"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(filmsText, tt.from, tt.to, 1)
			if text == filmsText {
				t.Fatal("the job is as it was")
			}
			if _, err := enrolled(t, text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := Enrol(jobtest.Parse(t, filmsText), append(publicOf(30), publicOf(1)...), authority); err == nil || !strings.Contains(err.Error(), "device 31 has the same key as another device") {
		t.Errorf("a device that comes twice: %v", err)
	}
}

// An enrolment counts as its authority has signed it, and in no other form.
func TestEnrolmentIsTheAuthoritys(t *testing.T) {
	signed, err := Enrol(jobtest.Parse(t, filmsText), publicOf(30), authority)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(signed); i += 41 {
		changed := bytes.Clone(signed)
		changed[i] ^= 1
		if _, err := Open(changed, authority.Public().(ed25519.PublicKey), all.Reader()); err == nil {
			t.Errorf("byte %d can be changed", i)
		}
	}
	if _, err := Open(signed, keyOf(1).Public().(ed25519.PublicKey), all.Reader()); err == nil || !strings.Contains(err.Error(), "not signed by the authority") {
		t.Errorf("signed by another: %v", err)
	}
	e, err := Open(signed, authority.Public().(ed25519.PublicKey), all.Reader())
	if err != nil || len(e.Keys) != 30 || !e.Key("device-30").Equal(publicOf(30)[29]) || e.Key("device-31") != nil {
		t.Errorf("%v, %v", e, err)
	}
}

// A device refuses to begin where it is not enrolled, or where the job is below its limits.
func TestDevicesThatDoNotBegin(t *testing.T) {
	loose := strings.Replace(filmsText, "{name: fedcfk,", "{name: fedcfk, threshold: 3,", 1)
	for name, tt := range map[string]struct {
		text, want string
		key        ed25519.PrivateKey
		code       fault.Code
	}{
		"a stranger":    {filmsText, "has not enrolled this device", keyOf(30), fault.CodeOf(fault.BadInputf("x"))},
		"a loose job":   {loose, "threshold is 3; this party requires at least 10", keyOf(0), fault.CodePolicy},
		"a semi-honest": {strings.Replace(filmsText, "{name: fedcfk,", "{name: fedcfk, corrupted: 0.01,", 1), "corrupted is 0.01", keyOf(0), fault.CodePolicy},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := enrolled(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			_, err = NewDevice(DeviceConfig{Enrolment: e, Key: tt.key, Limits: method.DefaultLimits(), Vault: vault.NewMemory()})
			if err == nil || !strings.Contains(err.Error(), tt.want) || fault.CodeOf(err) != tt.code {
				t.Errorf("%v, code %d", err, fault.CodeOf(err))
			}
		})
	}
}

// serving is a server whose first sum has begun.
func serving(t *testing.T) (*Enrolment, *Service, *httptest.Server) {
	t.Helper()
	return servingWith(t, 30, slog.New(slog.DiscardHandler))
}

func servingWith(t *testing.T, devices int, log *slog.Logger) (*Enrolment, *Service, *httptest.Server) {
	t.Helper()
	e, err := enrolledOf(t, filmsText, devices)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := vault.OpenDisk(filepath.Join(t.TempDir(), "vault"), "test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Enrolment: e, Vault: disk, Model: filepath.Join(t.TempDir(), "model"), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err == nil {
			t.Error("the job is done")
		}
		web.Close()
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, s, web
}

func lineOf(e *Enrolment, web *httptest.Server, device int) *line {
	return &line{enrolment: e, server: web.URL, name: Name(device), key: keyOf(device), http: web.Client(), patience: time.Second}
}

// Forbidden messages of a device, or in its name, change nothing and are refused.
func TestRequestsThatAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	e, s, web := serving(t)
	l := lineOf(e, web, 0)
	if _, err := l.step(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	session := s.begun[0].box.session
	s.mu.Unlock()
	message := func(sender string, body string) []byte {
		return encode(protocol.Message{Header: session.Header(sender, Server, 0, "AdvertiseKeys"), Body: []byte(body)})
	}
	ask := func(method, address, name string, key ed25519.PrivateKey, body []byte) int {
		q, err := http.NewRequestWithContext(t.Context(), method, web.URL+address, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		e.signer().Sign(q, name, key, body)
		r, err := web.Client().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close() //nolint:errcheck
		return r.StatusCode
	}
	messages, strange := messagesPath+"?step=0&session="+session.ID().Hex(), messagesPath+"?step=0&session=00"
	for name, tt := range map[string]struct {
		method, address, device string
		key                     int
		body                    []byte
		want                    int
	}{
		"a stranger's message":               {"POST", messages, "device-31", 30, message("device-31", "x"), http.StatusForbidden},
		"a message under another's key":      {"POST", messages, "device-1", 1, message("device-1", "x"), http.StatusForbidden},
		"a message in another's name":        {"POST", messages, "device-1", 0, message("device-2", "x"), http.StatusBadRequest},
		"a message that is none":             {"POST", messages, "device-1", 0, []byte("x"), http.StatusBadRequest},
		"a message that is too long":         {"POST", messages, "device-1", 0, make([]byte, maxPostBytes+1), http.StatusRequestEntityTooLarge},
		"a message of another session":       {"POST", strange, "device-1", 0, message("device-1", "x"), http.StatusServiceUnavailable},
		"a message of no step":               {"POST", messagesPath + "?session=00", "device-1", 0, message("device-1", "x"), http.StatusBadRequest},
		"a message of a step to come":        {"POST", messagesPath + "?step=1&session=00", "device-1", 0, message("device-1", "x"), http.StatusServiceUnavailable},
		"a question under another's key":     {"GET", messages + "&after=0", "device-1", 1, nil, http.StatusForbidden},
		"a question for no number":           {"GET", messages + "&after=x", "device-1", 0, nil, http.StatusBadRequest},
		"a question about another session":   {"GET", strange + "&after=0", "device-1", 0, nil, http.StatusServiceUnavailable},
		"a question about a step beyond all": {"GET", stepPath + "?index=9", "device-1", 0, nil, http.StatusBadRequest},
		"what the machine refuses":           {"POST", messages, "device-1", 0, message("device-1", "x"), http.StatusOK},
	} {
		if got := ask(tt.method, tt.address, tt.device, keyOf(tt.key), tt.body); got != tt.want {
			t.Errorf("%s: status %d, want %d", name, got, tt.want)
		}
	}
	s.begin(&stage{})
	if got := ask("GET", messages+"&after=0", "device-1", keyOf(0), nil); got != http.StatusGone {
		t.Errorf("a session that is over: status %d", got)
	}
	signed := func(address string) string {
		q, err := http.NewRequestWithContext(t.Context(), "GET", web.URL+address, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.signer().Sign(q, "device-1", keyOf(0), nil)
		return q.Header.Get("Mercer-Signature")
	}
	if _, err := base64.StdEncoding.DecodeString(signed(messages)); err != nil || signed(messages) == signed(messages+"&after=1") {
		t.Error("a signature is not of its address")
	}
}

// A server that does not answer is waited for, not without end.
func TestPatienceEnds(t *testing.T) {
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.NotFoundHandler())
	l := lineOf(e, web, 0)
	if _, err := l.step(t.Context(), 0); !errors.Is(err, errRefused) {
		t.Errorf("a server of another kind: %v", err)
	}
	web.Close()
	l.patience = 50 * time.Millisecond
	if _, err := l.step(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "has not answered for 50ms") {
		t.Errorf("%v", err)
	}
}

// A list goes into one sum of each kind: the ledger of a device that has added it elsewhere
// keeps the device from this one.
func TestADeviceAddsItsListOnce(t *testing.T) {
	e, _, web := serving(t)
	v := vault.NewMemory()
	d := &Device{DeviceConfig: DeviceConfig{Enrolment: e, Key: keyOf(0), Vault: v}, line: lineOf(e, web, 0), kept: reopened(nil)}
	m, plan, _, err := e.plan()
	if err != nil {
		t.Fatal(err)
	}
	if d.plan, d.party, err = plan, nil, nil; len(plan[0].Session.Claims) != 1 {
		t.Fatalf("claims %q", plan[0].Session.Claims)
	}
	if err := v.Claim(protocol.SessionID{1}, plan[0].Session.Claims...); err != nil {
		t.Fatal(err)
	}
	err = d.runSession(t.Context(), 0, plan[0].Session, nil)
	if err == nil || !strings.Contains(err.Error(), "has already contributed to this sum") {
		t.Errorf("%s: %v", m.Name(), err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(bytes.Join(encodeAll([]protocol.Message{{Header: protocol.Header{Protocol: "secagg", Sender: "a", Receiver: "b", Kind: "c", Chunks: 1}, Body: []byte("x")}}), nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if list, err := decodeAll(b); err == nil && !bytes.Equal(bytes.Join(encodeAll(list), nil), b) {
			t.Error("an answer is not canonical")
		}
		if m, err := decode(b); err == nil && !bytes.Equal(encode(m), b) {
			t.Error("a message is not canonical")
		}
		if told, err := decodeTold(b); err == nil && !bytes.Equal(told.encode(), b) {
			t.Error("a note of a step is not canonical")
		}
		if names, err := decodeNames(b); err == nil && !bytes.Equal(encodeNames(names), b) {
			t.Error("names of devices are not canonical")
		}
		if err := passedBy(b, 3); !errors.Is(err, errMoved) {
			t.Errorf("an answer about a step that is over: %v", err)
		}
		if _, err := Open(append(b, ed25519.Sign(authority, b)...), authority.Public().(ed25519.PublicKey), all.Reader()); err == nil {
			t.Logf("%d bytes enrol", len(b))
		}
	})
}

// The first device has the time that the job gives devices to come; after it a round is short.
func TestTheFirstDeviceMayTakeItsTime(t *testing.T) {
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	s, b := &Service{Config: Config{Enrolment: e}}, &box{}
	if got := s.timeout(&method.Session{}, b, "any"); got != 30*time.Second {
		t.Errorf("before the first device %v", got)
	}
	b.toServer.Add(1)
	if got := s.timeout(&method.Session{}, b, "any"); got != 20*time.Second {
		t.Errorf("after it %v", got)
	}
}

// A message that comes when the machine has ended is refused at once, and one that it takes in
// time is taken.
func TestMessagesBehindTheEnd(t *testing.T) {
	e, err := enrolled(t, filmsText)
	if err != nil {
		t.Fatal(err)
	}
	_, plan, _, err := e.plan()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := protocol.NewSession(e.descriptor(plan[0].Session, 0))
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(opened, nil)
	answer := make(chan verdict)
	message := func(n int) (protocol.Message, [32]byte) {
		m := protocol.Message{Header: opened.Header(Name(0), Server, 0, "AdvertiseKeys"), Body: []byte{byte(n)}}
		return m, sumOf(m)
	}
	journals := func(m protocol.Message) { b.noteAccepted(journal.Record{Event: protocol.Received{Message: m}}) }
	m, sum := message(1)
	go func() { answer <- b.offer(t.Context(), m, sum) }()
	one := <-b.in
	if journals(m); b.handled(sum) {
		t.Error("a message that is not on disk is held")
	}
	if err := one.Ack(); err != nil || <-answer != taken || !b.handled(sum) {
		t.Errorf("a message in time: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	m, sum = message(2)
	go func() { answer <- b.offer(gone, m, sum) }()
	one = <-b.in
	leave() // the device is killed, and will ask again
	if got := <-answer; got != later || b.handled(sum) {
		t.Errorf("a message whose sender is gone: %v", got)
	}
	journals(m)
	if err := one.Ack(); err != nil || !b.handled(sum) {
		t.Errorf("a message that was taken after its sender had gone is not held: %v", err)
	}
	m, sum = message(3)
	go func() { answer <- b.offer(t.Context(), m, sum) }()
	if err := (<-b.in).Ack(); err != nil || <-answer != taken || b.refused[Name(0)] != 1 {
		t.Errorf("%d messages were refused: %v", b.refused[Name(0)], err)
	}
	go func() { answer <- b.offer(t.Context(), m, sum) }()
	if err := (<-b.in).Later(0); err != nil || <-answer != later {
		t.Errorf("a message that shall come again: %v", err)
	}
	close(b.done)
	if got := b.offer(t.Context(), protocol.Message{}, [32]byte{1}); got != tooLate {
		t.Errorf("a message behind the end: %v", got)
	}
}

// An answer about a step that is over leads forward only.
func TestAnswersAboutStepsThatAreOver(t *testing.T) {
	for answer, at := range map[string]int{"4": 4, "17": 17, "3": 0, "2": 0, "-1": 0, "": 0, "the job has failed": 0, "99999999999999999999": 0} {
		err := passedBy([]byte(answer), 3)
		over := passed{}
		if is := errors.As(err, &over); !errors.Is(err, errMoved) || is != (at > 0) || over.at != at {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// A note of a server is read back, and its step stays within the job.
func TestNotes(t *testing.T) {
	n := note{step: 3, resumes: true, snapshot: []byte("state")}
	got, err := decodeNote(n.encode())
	if err != nil || got.step != 3 || !got.resumes || string(got.snapshot) != "state" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range [][]byte{nil, n.encode()[1:], append(n.encode(), 0)} {
		if _, err := decodeNote(bad); err == nil {
			t.Errorf("%x is a note", bad)
		}
	}
}

// A server that has just resumed announces no step that an earlier process has ended: a device waits
// until the next one has begun.
func TestStepsOfAnEarlierProcess(t *testing.T) {
	s := &Service{passing: true, plan: make([]method.Step, 4), begun: []*stage{{}, {}}, changed: make(chan struct{})}
	ask := func(index string) (int, string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		w := httptest.NewRecorder()
		answer := s.serveStep(ctx, w, httptest.NewRequest("GET", stepPath+"?index="+index, nil), "")
		return w.Code, w.Body.String() + string(bytes.Join(answer, nil))
	}
	for index, want := range map[string]int{"0": http.StatusGone, "1": http.StatusNoContent, "2": http.StatusNoContent} {
		if status, body := ask(index); status != want || status == http.StatusGone && body != "1" {
			t.Errorf("before a step begins, step %s: %d %q", index, status, body)
		}
	}
	s.begin(&stage{[]byte("weights"), newBox(&protocol.Session{}, nil)})
	for index, want := range map[string]string{"0": "2", "1": "2", "2": "weights"} {
		if _, body := ask(index); body != want {
			t.Errorf("step %s: %q, want %q", index, body, want)
		}
	}
}

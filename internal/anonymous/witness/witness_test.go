package witness

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/endpoint/endpointtest"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/request"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

func key(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }

func public(n byte) ed25519.PublicKey { return key(n).Public().(ed25519.PublicKey) }

func sign(m []byte) []byte { return ed25519.Sign(key(1), m) }

// configuration returns a configuration of the gateway, for windows of that many
// milliseconds.
func configuration(t testing.TB, window uint32) (*secvm.Configuration, []byte) {
	t.Helper()
	p, err := secvm.NewParams(secvm.Spec{Name: "toy", Bins: 4, Packages: 4, Cohort: 10, Radius: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := &secvm.Configuration{
		Params: p, Classes: [2]string{"a", "b"}, Iterations: 3, Window: window, Issuer: "i", TokenKeys: [][]byte{{1}, {2}, {3}, {4}},
		Signer: key(1).Public().(ed25519.PublicKey),
	}
	signed, err := c.Sign(sign)
	if err != nil {
		t.Fatal(err)
	}
	return c, signed
}

// extend adds a window with these weights.
func extend(c *secvm.Configuration, h secvm.Chain, weight float64) secvm.Chain {
	w := make([]float64, c.Params.Features())
	w[0] = weight
	return h.Extend(secvm.Link{Configuration: c.Hash(), Iteration: uint32(len(h)), Opens: int64(len(h) + 1), Weights: secvm.HashWeights(w)}, sign)
}

func open(t *testing.T, path string) *Witness {
	t.Helper()
	w, err := Open(path, key(9), public(1), func(*secvm.Configuration) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// said returns the witness's statement.
func said(t *testing.T, w *Witness) secvm.Statement {
	t.Helper()
	s, err := secvm.DecodeStatement(w.State(w.Standing(), 5), key(9).Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Attack: two configurations, or two histories. The strongest adversary is a gateway that
// signs both and can have the witness killed and restarted in between: a witness
// countersigns only the first that it sees.
func TestAttackTwoHistories(t *testing.T) {
	path := filepath.Join(t.TempDir(), "witness")
	c, signed := configuration(t, 100)
	other, otherSigned := configuration(t, 200)
	first := extend(c, nil, 0)
	second := extend(c, first, 1)
	w := open(t, path)
	if s := w.Standing(); s.Configuration != nil {
		t.Errorf("%+v", s)
	}
	for _, h := range []secvm.Chain{nil, first, first, second} {
		if err := w.Countersign(secvm.History{Configuration: signed, Chain: h}); err != nil {
			t.Fatal(err)
		}
	}
	for life := range 2 {
		for name, c := range map[string]struct {
			history secvm.History
			want    error
		}{
			"another configuration":    {secvm.History{Configuration: otherSigned, Chain: extend(other, nil, 0)}, secvm.ErrConfiguration},
			"other weights at the end": {secvm.History{Configuration: signed, Chain: extend(c, first, 2)}, secvm.ErrForked},
			"another past":             {secvm.History{Configuration: signed, Chain: extend(c, extend(c, extend(c, nil, 3), 1), 2)}, secvm.ErrForked},
			"a shorter history":        {secvm.History{Configuration: signed, Chain: first}, secvm.ErrForked},
		} {
			if err := w.Countersign(c.history); !errors.Is(err, c.want) {
				t.Errorf("life %d: %s: %v", life, name, err)
			}
		}
		want := secvm.Statement{Configuration: c.Hash(), Links: 2, Head: second[1].Hash(), Devices: 5}
		if got := said(t, w); got != want {
			t.Errorf("life %d: %+v, want %+v", life, got, want)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		w = open(t, path)
	}
	if err := w.Countersign(secvm.History{Configuration: signed, Chain: extend(c, second, 4)}); err != nil || said(t, w).Links != 3 {
		t.Errorf("the history does not go on: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A witness that cannot write states nothing any more, because it may not remember what it
// states.
func TestFailedMemory(t *testing.T) {
	c, signed := configuration(t, 100)
	w := open(t, filepath.Join(t.TempDir(), "witness"))
	if err := w.Countersign(secvm.History{Configuration: signed, Chain: extend(c, nil, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Countersign(secvm.History{Configuration: signed, Chain: extend(c, extend(c, nil, 0), 1)}); !errors.Is(err, ErrMemory) {
			t.Errorf("%v", err)
		}
	}
	if s := w.Standing(); s.Configuration != nil {
		t.Errorf("%+v", s)
	}
}

// shown returns a request that shows a history, with a signed header.
func shown(t *testing.T, by ed25519.PrivateKey, body []byte) *http.Request {
	t.Helper()
	q, err := request.Signer{Purpose: secvm.HistoryPurpose, Of: public(1)}.Post(t.Context(), secvm.HistoryPath, by, body)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestServe(t *testing.T) {
	c, signed := configuration(t, 100)
	_, foreign := configuration(t, 200)
	w, err := Open(filepath.Join(t.TempDir(), "witness"), key(9), public(1), func(c *secvm.Configuration) error {
		if c.Window != 100 {
			return errors.New("another job")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	w.Serve(mux, slog.New(slog.DiscardHandler), func(s Standing) int { return 40 + s.Links })
	ask := func(q *http.Request) endpointtest.Recorder {
		a := endpointtest.NewRecorder()
		mux.ServeHTTP(a, q)
		return a
	}
	statement := httptest.NewRequest(http.MethodGet, secvm.StatementPath, nil)
	if a := ask(statement); a.Code != http.StatusServiceUnavailable {
		t.Errorf("before the first history: %d", a.Code)
	}
	honest := extend(c, nil, 0)
	for _, k := range []struct {
		name   string
		body   []byte
		status int
	}{
		{"no history", []byte("history"), http.StatusBadRequest},
		{"no configuration", secvm.History{Configuration: []byte{1}}.Encode(), http.StatusBadRequest},
		{"another job's", secvm.History{Configuration: foreign}.Encode(), http.StatusBadRequest},
		{"the gateway's", secvm.History{Configuration: signed, Chain: honest}.Encode(), http.StatusOK},
		{"another configuration", secvm.History{Configuration: foreign}.Encode(), http.StatusConflict},
		{"another history", secvm.History{Configuration: signed, Chain: extend(c, nil, 1)}.Encode(), http.StatusConflict},
	} {
		if a := ask(shown(t, key(1), k.body)); a.Code != k.status {
			t.Errorf("%s: %d, want %d", k.name, a.Code, k.status)
		}
	}
	a := ask(statement)
	s, err := secvm.DecodeStatement(a.Body.Bytes(), key(9).Public().(ed25519.PublicKey))
	if want := (secvm.Statement{Configuration: c.Hash(), Links: 1, Head: honest[0].Hash(), Devices: 41}); err != nil || s != want {
		t.Errorf("%+v, %v; want %+v", s, err, want)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// unread is a body of a stranger.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("a byte of a stranger's body was read")
	return 0, io.EOF
}

// Attack: somebody other than the gateway shows a witness a history first. None of it is
// read, and the gateway's is countersigned afterwards.
func TestAttackHistoryOfAStranger(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "witness"))
	mux := http.NewServeMux()
	w.Serve(mux, slog.New(slog.DiscardHandler), func(Standing) int { return 0 })
	_, signed := configuration(t, 100)
	mine := secvm.History{Configuration: signed}.Encode()
	post := func(q *http.Request) int {
		a := endpointtest.NewRecorder()
		mux.ServeHTTP(a, q)
		return a.Code
	}
	other := shown(t, key(1), mine)
	other.Header = shown(t, key(1), append([]byte{0}, mine[1:]...)).Header
	named := shown(t, key(2), mine)
	named.Header.Set(request.NameHeader, request.NameOf(public(1)))
	for name, q := range map[string]*http.Request{
		"without a head":                  httptest.NewRequest(http.MethodPost, secvm.HistoryPath, unread{t}),
		"signed by somebody else":         shown(t, key(2), mine),
		"in the gateway's name":           named,
		"signed for something else":       shown(t, key(1), mine),
		"signed, of another body's bytes": other,
	} {
		switch name {
		case "signed by somebody else", "in the gateway's name":
			q.Body = io.NopCloser(unread{t})
		case "signed for something else":
			request.Signer{Purpose: secvm.TokenPurpose, Of: public(1)}.Sign(q, request.NameOf(public(1)), key(1), mine)
			q.Body = io.NopCloser(unread{t})
		}
		if status := post(q); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	if s := w.Standing(); s.Configuration != nil {
		t.Error("a stranger's history was countersigned")
	}
	if status := post(shown(t, key(1), mine)); status != http.StatusOK {
		t.Errorf("the gateway's history: %d", status)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A witness countersigns a configuration that its gateway has signed, and no other. It does
// not continue a memory with another gateway's.
func TestGatewayKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "witness")
	c, signed := configuration(t, 100)
	anything := func(*secvm.Configuration) error { return nil }
	if _, err := Open(path, key(9), nil, anything); err == nil {
		t.Error("a witness of anybody")
	}
	w, err := Open(path, key(9), public(2), anything)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Countersign(secvm.History{Configuration: signed, Chain: extend(c, nil, 0)}); !errors.Is(err, ErrStranger) || w.Standing().Configuration != nil {
		t.Errorf("another gateway's configuration: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = open(t, path)
	if err := w.Countersign(secvm.History{Configuration: signed}); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var bad *fault.Error
	if _, err := Open(path, key(9), public(2), anything); !errors.As(err, &bad) || !strings.Contains(err.Error(), path) {
		t.Errorf("a memory of another gateway's job: %v", err)
	}
}

// Few histories are read at a time, however many headers of the gateway's are repeated.
func TestManyHistoriesAtATime(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "witness"))
	_, signed := configuration(t, 100)
	mine := secvm.History{Configuration: signed}.Encode()
	for range maxShown {
		w.shown <- struct{}{}
	}
	if status, err := w.take(endpointtest.NewRecorder(), shown(t, key(1), mine)); status != http.StatusServiceUnavailable || err == nil {
		t.Errorf("%d, %v", status, err)
	}
	<-w.shown
	if status, err := w.take(endpointtest.NewRecorder(), shown(t, key(1), mine)); status != http.StatusOK || err != nil || len(w.shown) != maxShown-1 {
		t.Errorf("%d, %v, %d places taken", status, err, len(w.shown))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Whatever history a witness is shown, it countersigns its gateway's configuration only.
func FuzzCountersign(f *testing.F) {
	c, signed := configuration(f, 100)
	f.Add(secvm.History{Configuration: signed, Chain: extend(c, nil, 0)}.Encode())
	f.Add(secvm.History{Configuration: signed}.Encode())
	f.Add([]byte("history"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := secvm.DecodeHistory(b)
		if err != nil {
			return
		}
		w := open(t, filepath.Join(t.TempDir(), "witness"))
		err = w.Countersign(h)
		if s := w.Standing(); s.Configuration != nil && s.Configuration.Hash() != c.Hash() || err == nil && s.Configuration == nil {
			t.Errorf("%+v, %v", s, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

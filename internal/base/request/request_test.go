package request_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/request"
)

const purpose request.Purpose = "test"

func key(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }

func public(n byte) ed25519.PublicKey { return key(n).Public().(ed25519.PublicKey) }

var (
	session = [32]byte{1, 2, 3}
	body    = []byte("tokens, please")
)

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// post returns a request with these fields, whose body is of that length and not to be read.
func post(t *testing.T, length int64, fields ...string) *http.Request {
	t.Helper()
	q := httptest.NewRequest(http.MethodPost, "/", unread{t})
	q.ContentLength = length
	for _, f := range fields {
		q.Header.Add(request.Header, f)
	}
	return q
}

// A server knows sender, session, length and body by the head alone.
func TestHead(t *testing.T) {
	h := request.Of("device-1", session, body)
	got, err := request.From(post(t, int64(len(body)), h.Sign(purpose, key(1))))
	if err != nil || got.Head != h || !got.By(public(1), purpose) {
		t.Fatalf("%+v, %v", got, err)
	}
	if !got.Names(body) || got.Names(body[1:]) || got.Names(append([]byte("x"), body[1:]...)) {
		t.Error("another body passes for the one that is signed")
	}
	for name, by := range map[string]bool{
		"another key":     got.By(public(2), purpose),
		"another purpose": got.By(public(1), "other"),
		"no key":          got.By(nil, purpose),
	} {
		if by {
			t.Errorf("a head is taken for one of %s", name)
		}
	}
}

// Each bit of a head is under the signature.
func TestAttackChangedHead(t *testing.T) {
	field := request.Of("device-1", session, body).Sign(purpose, key(1))
	b, err := base64.RawStdEncoding.DecodeString(field)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(b) {
		other := bytes.Clone(b)
		other[i/8] ^= 1 << (i % 8)
		s, err := request.Parse(base64.RawStdEncoding.EncodeToString(other))
		if err == nil && s.By(public(1), purpose) {
			t.Fatalf("bit %d is not under the signature", i)
		}
	}
}

// A server reads the head that a sender has put on a POST.
func TestPost(t *testing.T) {
	var got request.Signed
	var failed error
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { got, failed = request.From(q) }))
	defer server.Close()
	s := request.Sender{Name: request.NameOf(public(1)), Purpose: purpose, Key: key(1)}
	for _, body := range [][]byte{body, nil} {
		q, err := s.Post(t.Context(), server.URL, session, body)
		if err != nil {
			t.Fatal(err)
		}
		r, err := server.Client().Do(q)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if failed != nil || got.Head != request.Of(s.Name, session, body) || !got.By(public(1), purpose) {
			t.Errorf("%+v, %v", got, failed)
		}
	}
}

func TestHeadsThatAreRefused(t *testing.T) {
	good := request.Of("device-1", session, body).Sign(purpose, key(1))
	long := request.Of(strings.Repeat("d", 256), session, body).Sign(purpose, key(1))
	n := int64(len(body))
	for name, q := range map[string]*http.Request{
		"none":             post(t, n),
		"two":              post(t, n, good, good),
		"another length":   post(t, n+1, good),
		"no length":        post(t, -1, good),
		"cut off":          post(t, n, good[:len(good)-4]),
		"more behind it":   post(t, n, good+"AAAA"),
		"padded":           post(t, n, good+"="),
		"no base64":        post(t, n, "?"),
		"empty":            post(t, n, ""),
		"a very long name": post(t, n, long),
	} {
		if _, err := request.From(q); !errors.Is(err, request.ErrHead) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nobody signs a head in another's name, and a head has one text.
func FuzzParse(f *testing.F) {
	h := request.Of("device-1", session, body)
	f.Add(h.Sign(purpose, key(1)))
	f.Add(request.Of("", session, nil).Sign(purpose, key(2)))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, field string) {
		s, err := request.Parse(field)
		if err == nil && s.By(public(1), purpose) && (s.Head != h || field != h.Sign(purpose, key(1))) {
			t.Errorf("the sender did not sign %+v", s.Head)
		}
	})
}

package request

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func keyOf(i byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{i}, ed25519.SeedSize))
}

// keys knows two names.
func keys(name string) ed25519.PublicKey {
	for i, known := range []string{"device-1", "device-2"} {
		if name == known {
			return keyOf(byte(i + 1)).Public().(ed25519.PublicKey)
		}
	}
	return nil
}

var signer = Signer{Purpose: "test", Of: []byte("a job")}

// sent returns a request of device-1, as it arrives.
func sent(body []byte) *http.Request {
	q := httptest.NewRequest("POST", "/messages?step=1&session=ab", bytes.NewReader(body))
	signer.Sign(q, "device-1", keyOf(1), body)
	return q
}

// A signature holds for one sender, method, address, length and body of one job. None of
// them can be changed, and no part of the header can be left out.
func TestASignatureIsOfAllThatTheHeaderSays(t *testing.T) {
	body := []byte("masked")
	q := sent(body)
	of, err := signer.Verify(q, keys)
	if err != nil || of.Name != "device-1" || of.Length != 6 {
		t.Fatalf("%+v, %v", of, err)
	}
	if got, err := of.Read(&clocked{ResponseWriter: httptest.NewRecorder()}, q, 10); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%q, %v", got, err)
	}
	for name, change := range map[string]func(*http.Request){
		"another sender":   func(q *http.Request) { q.Header.Set(NameHeader, "device-2") },
		"a stranger":       func(q *http.Request) { q.Header.Set(NameHeader, "device-3") },
		"another method":   func(q *http.Request) { q.Method = "GET" },
		"another step":     func(q *http.Request) { q.URL.RawQuery = "step=2&session=ab" },
		"another path":     func(q *http.Request) { q.URL.Path = "/step" },
		"another length":   func(q *http.Request) { q.ContentLength = 7 },
		"no length":        func(q *http.Request) { q.ContentLength = -1 },
		"another body":     func(q *http.Request) { q.Header.Set(bodyHeader, q.Header.Get(bodyHeader)[2:]+"00") },
		"a short hash":     func(q *http.Request) { q.Header.Set(bodyHeader, "00") },
		"no hash":          func(q *http.Request) { q.Header.Del(bodyHeader) },
		"no signature":     func(q *http.Request) { q.Header.Del(signatureHeader) },
		"a long signature": func(q *http.Request) { q.Header.Set(signatureHeader, q.Header.Get(signatureHeader)+"AAAA") },
		"another's key":    func(q *http.Request) { signer.Sign(q, "device-1", keyOf(2), body) },
		"another job": func(q *http.Request) {
			Signer{Purpose: "test", Of: []byte("another")}.Sign(q, "device-1", keyOf(1), body)
		},
		"another purpose": func(q *http.Request) {
			Signer{Purpose: "tes", Of: []byte("ta job")}.Sign(q, "device-1", keyOf(1), body)
		},
	} {
		q := sent(body)
		change(q)
		if of, err := signer.Verify(q, keys); !errors.Is(err, ErrUnsigned) {
			t.Errorf("%s: %+v, %v", name, of, err)
		}
	}
}

// A server verifies the header that Post has signed, for a sender known by its key.
func TestPost(t *testing.T) {
	var by Signed
	var body []byte
	var failed error
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if by, failed = signer.Verify(q, func(string) ed25519.PublicKey { return keyOf(1).Public().(ed25519.PublicKey) }); failed == nil {
			body, failed = by.Read(w, q, 10)
		}
	}))
	defer server.Close()
	for _, sent := range []string{"masked", ""} {
		q, err := signer.Post(t.Context(), server.URL, keyOf(1), []byte(sent))
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
		if failed != nil || by.Name != NameOf(keyOf(1).Public().(ed25519.PublicKey)) || string(body) != sent {
			t.Errorf("%+v, %q, %v", by, body, failed)
		}
	}
}

// A repeated header with another body of the same length is refused.
func TestAnotherBodyUnderASignedHeader(t *testing.T) {
	q := sent([]byte("masked"))
	other := httptest.NewRequest("POST", "/messages?step=1&session=ab", bytes.NewReader([]byte("forged")))
	other.Header = q.Header
	of, err := signer.Verify(other, keys)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := of.Read(&clocked{ResponseWriter: httptest.NewRecorder()}, other, 10); !errors.Is(err, ErrOtherBody) || b != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// Whatever a header holds, only signed facts are accepted.
func FuzzSignedHeaders(f *testing.F) {
	q := sent([]byte("masked"))
	f.Add(q.Header.Get(NameHeader), q.Header.Get(bodyHeader), q.Header.Get(signatureHeader), int64(6), "step=1")
	f.Add("device-3", "", "", int64(-1), "")
	f.Fuzz(func(t *testing.T, name, body, signature string, length int64, query string) {
		q := sent([]byte("masked"))
		genuine := q.Header.Clone()
		q.Header = http.Header{NameHeader: {name}, bodyHeader: {body}, signatureHeader: {signature}}
		q.ContentLength, q.URL.RawQuery = length, query
		of, err := signer.Verify(q, keys)
		switch {
		case err != nil && of != (Signed{}):
			t.Errorf("%+v of a request that nobody has signed", of)
		case err == nil && (name != "device-1" || length != 6 || query != "step=1&session=ab" || decoded(signature) != decoded(genuine.Get(signatureHeader))):
			t.Errorf("%q, %q, %d and %q are taken", name, signature, length, query)
		}
	})
}

func decoded(s string) string {
	b, _ := base64.StdEncoding.DecodeString(s)
	return string(b)
}

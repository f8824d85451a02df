package secvm_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol/secvm"
)

func TestTokenRequest(t *testing.T) {
	q := secvm.TokenRequest{Blinded: [][]byte{{1, 2}, {3, 4}, {5, 6}}}
	b := q.Body()
	got, err := secvm.DecodeBlinded(b, 3, 2)
	if err != nil || !cmp.Equal(q.Blinded, got) {
		t.Fatalf("%v, %v", got, err)
	}
	for name, other := range map[string][]byte{"less": b[1:], "more": append(b, 0), "nothing": nil} {
		if _, err := secvm.DecodeBlinded(other, 3, 2); err == nil {
			t.Errorf("%s than three tokens was taken", name)
		}
	}
	if _, err := secvm.DecodeBlinded(b, 2, 2); err == nil {
		t.Error("a request for three tokens was taken where devices ask for two")
	}
}

func TestQueryOfATokenRequest(t *testing.T) {
	for _, iteration := range []uint32{0, 7, 1<<32 - 1} {
		q := secvm.TokenRequest{Iteration: iteration}
		if got, err := secvm.ParseQuery(q.Query()); err != nil || got != iteration {
			t.Errorf("%q: %d, %v", q.Query(), got, err)
		}
	}
	for _, query := range []string{"", "iteration", "iteration=", "iteration=-1", "iteration=+1", "iteration=4294967296", "iteration=1&iteration=2", "7"} {
		if n, err := secvm.ParseQuery(query); err == nil {
			t.Errorf("%q: %d", query, n)
		}
	}
}

func TestAnnouncement(t *testing.T) {
	c := published(t)
	a := secvm.Announcement{Chain: chain(c.Params, 3), Weights: secvm.EncodeWeights(weightsAt(c.Params, 2))}
	b := a.Encode()
	if got, err := secvm.DecodeAnnouncement(c.Params, b); err != nil || !cmp.Equal(a, got) || len(b) > secvm.AnnouncementLimit(c.Params) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := secvm.DecodeAnnouncement(c.Params, append(b, 0)); err == nil {
		t.Error("bytes that are none of the announcement's were taken")
	}
}

func TestSpent(t *testing.T) {
	s := secvm.Spent{Token: []byte{7, 8, 9}, Package: secvm.Package{Tag: 1, Kind: secvm.Cover}}
	got, err := secvm.DecodeSpent(s.Encode(), 3)
	if err != nil || !cmp.Equal(s, got) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := secvm.DecodeSpent(s.Package.Encode(), 3); !errors.Is(err, secvm.ErrTokenless) {
		t.Errorf("%v", err)
	}
	if _, err := secvm.DecodeSpent(s.Encode(), 4); err == nil || errors.Is(err, secvm.ErrTokenless) {
		t.Errorf("%v", err)
	}
}

func FuzzDecodeAnnouncement(f *testing.F) {
	c := published(f)
	f.Add(secvm.Announcement{Chain: chain(c.Params, 2), Weights: secvm.EncodeWeights(weightsAt(c.Params, 1))}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := secvm.DecodeAnnouncement(c.Params, b); err == nil && !bytes.Equal(a.Encode(), b) {
			t.Error("an announcement has two encodings")
		}
	})
}

func FuzzDecodeBlinded(f *testing.F) {
	f.Add(secvm.TokenRequest{Blinded: [][]byte{{1, 2}, {3, 4}}}.Body())
	f.Fuzz(func(t *testing.T, b []byte) {
		if blinded, err := secvm.DecodeBlinded(b, 2, 2); err == nil && !bytes.Equal(secvm.TokenRequest{Blinded: blinded}.Body(), b) {
			t.Errorf("%x is a second encoding of %x", b, blinded)
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	f.Add(secvm.TokenRequest{Iteration: 7}.Query())
	f.Add("iteration=007")
	f.Fuzz(func(t *testing.T, query string) {
		n, err := secvm.ParseQuery(query)
		if again, failed := secvm.ParseQuery(secvm.TokenRequest{Iteration: n}.Query()); err == nil && (failed != nil || again != n) {
			t.Errorf("%q is %d, and then %d, %v", query, n, again, failed)
		}
	})
}

func FuzzDecodeSpent(f *testing.F) {
	f.Add(secvm.Spent{Token: []byte{7, 8, 9}, Package: secvm.Package{Tag: 1, Kind: secvm.Cover}}.Encode())
	f.Add(secvm.Package{Kind: secvm.Participation}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := secvm.DecodeSpent(b, 3); err == nil && !bytes.Equal(s.Encode(), b) {
			t.Errorf("%x is a second encoding of %+v", b, s)
		}
	})
}

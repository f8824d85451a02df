package bhttp_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

type vector struct {
	Name      string
	Hex       string
	Removable int `json:"removable_trailing_bytes"`
	Decoded   struct {
		Framing                         int `json:"framing_indicator"`
		Method, Scheme, Authority, Path string
		Informational                   []struct {
			Status  int
			Headers [][2]string
		}
		Status            int
		Headers, Trailers [][2]string
		Content           string `json:"content_hex"`
	}
}

func fields(lines [][2]string) bhttp.Fields {
	var f bhttp.Fields
	for _, l := range lines {
		f = append(f, bhttp.Field{Name: l[0], Value: l[1]})
	}
	return f
}

func vectors(t *testing.T) []vector {
	t.Helper()
	b, err := os.ReadFile("testdata/rfc9292.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("no vectors")
	}
	return file.Vectors
}

func (v vector) bytes(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (v vector) request(t *testing.T) *bhttp.Request {
	d := v.Decoded
	return &bhttp.Request{Method: d.Method, Scheme: d.Scheme, Authority: d.Authority, Path: d.Path,
		Header: fields(d.Headers), Content: v.bytes(t, d.Content), Trailer: fields(d.Trailers)}
}

func (v vector) response(t *testing.T) *bhttp.Response {
	d := v.Decoded
	p := &bhttp.Response{Status: d.Status, Header: fields(d.Headers), Content: v.bytes(t, d.Content), Trailer: fields(d.Trailers)}
	for _, i := range d.Informational {
		p.Informational = append(p.Informational, bhttp.Informational{Status: i.Status, Header: fields(i.Headers)})
	}
	return p
}

// parse parses a message of either kind and encodes it again.
func (v vector) parse(b []byte) (message any, again []byte, err error) {
	if v.Decoded.Framing%2 == 0 {
		q, err := bhttp.ParseRequest(b)
		if err != nil {
			return nil, nil, err
		}
		again, err = q.Encode()
		return q, again, err
	}
	p, err := bhttp.ParseResponse(b)
	if err != nil {
		return nil, nil, err
	}
	again, err = p.Encode()
	return p, again, err
}

// The RFC's examples, complete and without every byte that may be removed.
func TestRFC9292(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			b := v.bytes(t, v.Hex)
			var want any = v.request(t)
			if v.Decoded.Framing%2 == 1 {
				want = v.response(t)
			}
			for cut := range v.Removable + 1 {
				got, again, err := v.parse(b[:len(b)-cut])
				if err != nil {
					t.Fatalf("without %d bytes: %v", cut, err)
				}
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("without %d bytes: %s", cut, d)
				}
				if v.Decoded.Framing < 2 && string(again) != string(b[:len(b)-v.Removable]) {
					t.Fatalf("written again: %x", again)
				}
			}
			if _, _, err := v.parse(b[:len(b)-v.Removable-1]); err == nil {
				t.Error("a message that lacks a needed byte was read")
			}
		})
	}
}

func TestPadding(t *testing.T) {
	q := &bhttp.Request{Method: "POST", Scheme: "https", Authority: "a.example", Path: "/package", Content: []byte("x")}
	b, err := q.EncodeTo(200)
	if err != nil || len(b) != 200 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	got, err := bhttp.ParseRequest(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(q, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
	b[199] = 1
	if _, err := bhttp.ParseRequest(b); err == nil {
		t.Error("padding of something else than zeros was read")
	}
	if _, err := q.EncodeTo(8); err == nil {
		t.Error("padded to less than there is")
	}
}

func TestRefused(t *testing.T) {
	get := func(f bhttp.Field) *bhttp.Request {
		return &bhttp.Request{Method: "GET", Scheme: "https", Authority: "a.example", Path: "/", Header: bhttp.Fields{f}}
	}
	for _, f := range []bhttp.Field{{"Upper", "x"}, {"", "x"}, {":path", "/"}, {"a b", "x"}, {"a", "x\r\nb: y"}, {"a", "\x00"}, {"a", " x"}} {
		if _, err := get(f).Encode(); err == nil {
			t.Errorf("field %q was written", f)
		}
	}
	for _, q := range []bhttp.Request{{}, {Method: "GET\r\n"}, {Method: "G ET"}, {Method: "GET", Scheme: "a\x00"}, {Method: "GET", Authority: "a\nb: c"}, {Method: "GET", Path: "/ HTTP/1.1"}} {
		if b, err := q.Encode(); err == nil {
			t.Errorf("%q was written: %x", q, b)
		}
	}
	for _, b := range []string{"\x00\x00\x00\x00\x00", "\x00\x04GE T\x00\x00\x00", "\x00\x03GET\x00\x00\x03/\r\n"} {
		if q, err := bhttp.ParseRequest([]byte(b)); err == nil {
			t.Errorf("%q was read: %+v", b, q)
		}
	}
	if _, err := (&bhttp.Response{Status: 99}).Encode(); err == nil {
		t.Error("status 99 was written")
	}
	many := get(bhttp.Field{Name: "a", Value: "b"})
	for range bhttp.MaxFields {
		many.Header = append(many.Header, many.Header[0])
	}
	if _, err := many.Encode(); err == nil || !strings.Contains(err.Error(), "more than 256 fields") {
		t.Errorf("%d fields were written: %v", len(many.Header), err)
	}
	unended := "\x02\x03GET\x05https\x00\x01/" + strings.Repeat("\x01a\x01b", bhttp.MaxFields)
	if _, err := bhttp.ParseRequest([]byte(unended + "\x00")); err != nil {
		t.Errorf("%d fields were refused: %v", bhttp.MaxFields, err)
	}
	if _, err := bhttp.ParseRequest([]byte(unended + "\x01a\x01b\x00")); err == nil || !strings.Contains(err.Error(), "more than 256 fields") {
		t.Errorf("%d fields were read: %v", bhttp.MaxFields+1, err)
	}
}

// Every parsed message can be encoded, and parses to the same.
func FuzzRequest(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := bhttp.ParseRequest(b)
		if err != nil {
			return
		}
		again, err := q.Encode()
		if err != nil {
			t.Fatal(err)
		}
		twice, err := bhttp.ParseRequest(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(q, twice, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzResponse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := bhttp.ParseResponse(b)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		twice, err := bhttp.ParseResponse(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p, twice, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func seeds(f *testing.F) {
	for _, s := range []string{
		"0003474554056874747073000a2f68656c6c6f2e747874",
		"0203474554056874747073000a2f68656c6c6f2e74787401610162000000",
		"0140c8001d5468697320636f6e74656e7420636f6e7461696e732043524c462e0d0a0d07747261696c65720474657874",
		"03406600 40c8 0161 0162 00 0178 00 00",
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

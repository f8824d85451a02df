package ohttp_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http/httptest"

	"github.com/mercer-fl/mercer/ohttp"
	"github.com/mercer-fl/mercer/ohttp/bhttp"
)

func Example() {
	seed := sha256.Sum256([]byte("in earnest: crypto/rand"))
	key, err := ohttp.NewKey(1, seed[:])
	if err != nil {
		fmt.Println(err)
		return
	}
	gateway := httptest.NewServer(&ohttp.Gateway{
		Keys: []*ohttp.Key{key},
		Serve: func(_ context.Context, q *bhttp.Request) *bhttp.Response {
			return &bhttp.Response{Status: 200, Content: []byte("hello from " + q.Authority)}
		},
	})
	defer gateway.Close()
	relay := httptest.NewServer(&ohttp.Relay{Gateway: gateway.URL})
	defer relay.Close()

	client := &ohttp.Client{Relay: relay.URL, Config: key.Config(), Size: 128}
	answer, err := client.Do(context.Background(), &bhttp.Request{Method: "GET", Scheme: "https", Authority: "a.example", Path: "/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Status, string(answer.Content))
	// Output: 200 hello from a.example
}

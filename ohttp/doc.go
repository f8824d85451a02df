// Package ohttp carries HTTP requests so that nobody sees both who asks and what
// is asked: Oblivious HTTP, RFC 9458, on messages of package bhttp.
//
// A [Client] seals a request for the gateway's key and posts it to a [Relay]; the
// relay passes it on without what would tell who sent it; the [Gateway] opens it,
// has it answered and seals the answer.
//
//	key, err := ohttp.NewKey(1, seed)
//	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: answer}
//	relay := &ohttp.Relay{Gateway: "https://gateway.example/"}
//	client := &ohttp.Client{Relay: "https://relay.example/", Config: key.Config()}
//	response, err := client.Do(ctx, &bhttp.Request{Method: "GET", Scheme: "https", Authority: "a.example", Path: "/"})
//
// # Who learns what
//
//   - The relay learns who sends when, and the size of what is sent, which
//     Client.Size makes the same for all requests.
//   - The gateway learns requests, and when the relay passed them on: in batches,
//     in random order, if Relay.Batch says so.
//   - Relay and gateway together learn everything.
//
// A gateway that gives each client a key of its own can tell clients apart. Clients
// must get the key from where others get it too (RFC 9458, section 6.2).
//
// # What is not promised
//
// No forward secrecy for requests: somebody who has recorded them and later obtains
// the gateway's key reads them. Retried requests are sealed anew; the gateway refuses
// the same sealed bytes twice if it has a [ReplayCache].
package ohttp

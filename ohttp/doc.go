// Package ohttp implements Oblivious HTTP, RFC 9458, on messages of package bhttp: no
// server sees both the sender and the content of a request.
//
// A [Client] seals a request to the gateway's key and posts it to a [Relay]. The relay passes the
// request on without any trace of the sender. The [Gateway] opens the request, passes it to a
// [Service] and seals the answer.
//
//	key, err := ohttp.NewKey(1, seed)
//	gateway := &ohttp.Gateway{Keys: []*ohttp.Key{key}, Serve: answer}
//	relay := &ohttp.Relay{Gateway: "https://gateway.example/"}
//	client := &ohttp.Client{Relay: "https://relay.example/", Config: key.Config()}
//	response, err := client.Do(ctx, &bhttp.Request{Method: "GET", Scheme: "https", Authority: "a.example", Path: "/"})
//
// # Who learns what
//
//   - The relay learns who sends when, and the sizes of requests and answers, which
//     Client.Size and Gateway.Pad can make equal.
//   - The gateway learns requests, and when the relay passed them on: in batches,
//     in random order, if Relay.Batch says so.
//   - Relay and gateway together learn everything.
//
// A gateway that gives each client a different key can distinguish clients. Clients
// must get the key from the same source as other clients (RFC 9458, section 6.2).
//
// # What is not promised
//
// Requests have no forward secrecy: somebody who has recorded them and later obtains
// the gateway's key can read them. Clients seal repeated requests again; a gateway with
// a [ReplayCache] refuses the same sealed bytes for a time.
package ohttp

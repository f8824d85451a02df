// Package device is one person's side of a SecVM job, to be embedded in a
// program that holds one labelled record: it takes part in training a linear
// support vector machine without the server learning whose record it learns
// from. It compiles to WebAssembly.
//
//	d, err := device.New(device.Config{
//		Configuration: signed,
//		Relay: "https://relay.example/", Issuer: "https://issuer.example/",
//		RelayKey: relayKey, IssuerKey: issuerKey, // from relay and issuer themselves
//		Credential: key, Store: store,
//	}, []string{"news.example", "shop.example"}, "+1")
//	err = d.Run(ctx) // until the model is trained
//
// A device draws once whether it trains or tests, and samples its record once if
// it does not fit. It fetches its tokens for an iteration one window early,
// always as many. It sends nothing before relay and issuer, whose keys it knows from
// its owner, have both countersigned what the gateway told it, and both know as many
// devices that are ready as the job's cohort has. In a window it sends always as many packages, each alone, at
// times drawn independently and uniformly over the window, and sends each again,
// sealed anew and with the same token, until it is acknowledged. Each window
// has a key of its own.
//
// # Who learns what
//
//   - The relay learns that the device takes part, and when; the token that it is shown
//     it cannot recognise.
//   - The issuer learns that the device takes part; it cannot recognise the tokens.
//   - The gateway learns packages, one by one; see package secvm.
//   - Issuer and gateway together can serve one device alone and learn its record.
//   - Relay and gateway together learn the record. So do, roughly, relay and gateway
//     that see the same packages at the same time: a relay that mixes
//     (ohttp.Relay.Batch) makes that harder, and nothing makes it impossible.
//
// # What is not promised
//
// The clock must be right to about a tenth of a window. A device that comes in
// the middle of a window sends its packages in what is left of it.
package device

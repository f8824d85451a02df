// Package device implements one person's side of a SecVM job. A program that holds one labelled
// record embeds the package to take part in training a linear support vector machine. The
// server does not learn whose record it uses. The package compiles to WebAssembly.
//
//	d, err := device.New(device.Config{
//		Configuration: signed,
//		Relay: "https://relay.example/", Issuer: "https://issuer.example/",
//		RelayKey: relayKey, IssuerKey: issuerKey, // from relay and issuer themselves
//		Credential: key, Store: store,
//	}, []string{"news.example", "shop.example"}, "+1")
//	err = d.Run(ctx) // until the model is trained
//
// A device draws once whether it trains or tests, and samples its record once if it does not fit.
// It fetches a constant number of tokens for an iteration one window early. Unless Limits.Paper is
// set, it sends no package before relay and issuer, whose keys it has from its owner, have both
// countersigned the gateway's announcement and both know at least as many ready devices as the job's
// cohort. In a window it sends a
// constant number of packages, each alone, at times drawn independently and uniformly over the
// window. It repeats each package, sealed again and with the same token, until the gateway
// acknowledges or refuses it, or the window's time of grace ends. Each window has its own key.
//
// # Who learns what
//
//   - The relay learns that the device takes part, and when; it cannot recognise the
//     token that the device shows it.
//   - The issuer learns that the device takes part; it cannot recognise the tokens.
//   - The gateway learns packages, one by one; see package secvm.
//   - Issuer and gateway together can serve one device alone and learn its record.
//   - Relay and gateway together learn the record. So do, roughly, relay and gateway
//     that see the same packages at the same time: a relay that mixes
//     (ohttp.Relay.Batch) makes that harder, and nothing makes it impossible.
//
// # What is not promised
//
// The clock must be right to about a tenth of a window. A device that starts in
// the middle of a window sends its packages in the rest of it.
package device

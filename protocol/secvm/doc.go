// Package secvm is what devices and a gateway do to train a linear support vector
// machine without the gateway learning whose data it learns from: SecVM
// (Hartmann, "Privacy-preserving classification with secret vector machines",
// CIKM 2020, arXiv 1907.03373).
//
// Every device holds one record: features hashed into bins, and a label of -1 or
// +1. In each window the gateway publishes weights; a device whose record lies
// inside the margin or on the wrong side sends its record back, one anonymous
// package for each unit of each feature. The gateway adds packages up and takes
// one step. No package tells whose it is, nor which packages belong together.
//
//	p, err := secvm.NewParams(secvm.Spec{Name: "demo", Bins: 1024, Packages: 16, Cohort: 100})
//	device := secvm.NewDevice(p, secvm.Record{Vector: p.Vector(words), Label: +1}, secvm.Train)
//	packages := device.Answer(iteration, weights, random) // exactly Packages of them
//
//	tally := secvm.NewTally(p)
//	err = tally.Add(pkg) // one by one, in any order
//	sum, n, err := tally.Gradient(1, 1)
//
// There is no session and no member here, hence no protocol.Machine: devices come
// and go, and whoever holds a token may speak.
//
// # Who learns what
//
//   - The gateway learns, for each window, the number of participants, how often each
//     bin was sent with each sign, and the test counts. From a bin that one person
//     only has, it learns that somebody with this feature has this label. From the
//     difference of two windows it may learn what a person who came or left has.
//   - A relay learns which devices take part and when. All packages have one size and every
//     device sends as many, so it does not learn who is inside the margin. Cover
//     packages are told from others only by the gateway.
//   - Devices learn the weights.
//   - Relay and gateway together link packages to devices, and so learn records.
//   - A gateway that sends a device weights of its own, or very large ones, learns more. Limits,
//     and announcements that form a signed chain and are fetched through the relay, make
//     that visible.
//
// # What is not promised
//
// Shuffled packages without noise carry no formal guarantee. A device can send
// false packages, up to its quota of tokens. Labels can be inferred from features
// by the trained model: that is its purpose.
package secvm

// Package secvm holds the devices' and the gateway's parts of SecVM, which trains a
// linear support vector machine without the gateway learning whose data it uses
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
// With [Spec.Columns] nothing is hashed. Then features are the numbers, from 1, of columns in a
// list that all devices have, and every count below is for one column by name.
//
// There is no session and no member here, hence no protocol.Machine: devices come
// and go, and anybody who holds a token may speak.
//
// Or nobody sends a package, and a window is a session of protocol/secagg, in which
// every device adds up what it has to say:
//
//	summand, err := device.Summand(weights) // a secagg.Vector of p.Blocks()
//	sum, err := secvm.NewSum(p, server.Sums(), len(server.Survivors()))
//	gradient, n, err := sum.Gradient(1, 1) // what the tally's would be
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
//   - Issuer and gateway together can have one device send alone, and so learn its record.
//   - A gateway that sends a device weights of its own learns more. Relay and issuer
//     countersign announcements, which form a signed chain ([Statement]); all three
//     together can still do it. How large weights may be is bounded by [Limits] and by
//     [Spec.Radius].
//
// Where windows are summed:
//
//   - The server learns who takes part, and of each window the sum of each bin (of both
//     signs together, or of each if [Spec.Classes]), the number of participants and what
//     tests gave. When somebody vanishes, the difference to the window before may be that
//     one's record, by name.
//   - Devices learn the weights, who takes part and who is in each sum.
//   - The server and corrupted devices learn the sum of the others: see protocol/secagg.
//
// # What is not promised
//
// Shuffled packages without noise carry no formal guarantee. A device can send
// false packages, up to its quota of tokens, and add anything to a sum. Labels can be inferred from features
// by the trained model: that is its purpose.
package secvm

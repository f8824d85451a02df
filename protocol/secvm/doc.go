// Package secvm implements the parts of the devices and the gateway in SecVM. SecVM trains a linear
// support vector machine, and the gateway does not learn whose data it uses (Hartmann,
// "Privacy-preserving classification with secret vector machines", CIKM 2020, arXiv 1907.03373).
//
// Every device holds one record: features hashed into bins, and a label of -1 or
// +1. In each window the gateway publishes weights; a device whose record lies
// inside the margin or on the wrong side sends its record back, one anonymous
// package for each unit of each feature. The gateway adds packages up and takes
// one step. A package reveals neither its sender nor the sender's other packages.
//
//	p, err := secvm.NewParams(secvm.Spec{Name: "demo", Bins: 1024, Packages: 16, Cohort: 100})
//	device, err := secvm.NewDevice(p, secvm.Record{Vector: p.Vector(words), Label: +1}, secvm.Train)
//	packages, err := device.Answer(iteration, weights, random) // exactly Spec.Packages packages
//
//	tally := secvm.NewTally(p)
//	err = tally.Add(pkg) // one by one, in any order
//	sum, n, err := tally.Gradient(1, 1)
//
// With [Spec.Columns] nothing is hashed. Then features are the numbers, from 1, of columns in a
// list that all devices have, and every count below is for one column by name.
//
// There is no session and no member here, hence no protocol.Machine: devices come
// and go, and any holder of a token may send a package.
//
// Alternatively no device sends packages. Then a window is a session of protocol/secagg,
// and each device's vector is the sum of its packages:
//
//	summand, err := device.Summand(weights) // a secagg.Vector of p.Blocks()
//	sum, err := secvm.NewSum(p, server.Sums(), len(server.Survivors()))
//	gradient, n, err := sum.Gradient(1, 1) // what the tally's would be
//
// # Who learns what
//
//   - The gateway learns, for each window, the number of participants, how often each
//     bin was sent with each sign, and the test counts. From a bin that only one person
//     has, it learns that a person with this feature has this label. From the
//     difference of two windows it may learn the features of a person who came or left.
//   - A relay learns which devices take part and when. All packages have one size and every
//     device sends as many, so it does not learn who is inside the margin. Only the
//     gateway can distinguish cover packages from others.
//   - Devices learn the weights.
//   - Relay and gateway together link packages to devices, and so learn records.
//   - Issuer and gateway together can have one device send alone, and so learn its record.
//   - A gateway that sends one device different weights learns more. To prevent this, except in
//     mode "paper", relay and issuer countersign announcements, which form a signed chain
//     ([Statement]); all three together can still do it. [Limits] and [Spec.Radius]
//     bound the weights.
//
// Where windows are summed:
//
//   - The server learns who takes part, and for each window the sum of each bin (of both
//     signs together, or of each if [Spec.Classes]), the number of participants and the
//     test results. When a device vanishes, the difference to the window before may be
//     that device's record, with its name.
//   - Devices learn the weights, who takes part and who is in each sum.
//   - The server and corrupted devices learn the sum of the others: see protocol/secagg.
//
// # What is not promised
//
// Shuffled packages without noise carry no formal guarantee. A device can send
// false packages, up to its quota of tokens, and add any vector to a sum. The trained
// model infers labels from features: that is its purpose.
package secvm

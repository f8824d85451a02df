// Package traffic does what an observer of every byte at a server can do: it records requests and
// answers as they pass ([Tap]), and looks for anything that links two of them to one sender, by
// documented statistics. Only tests import it.
//
// Every statistic comes with its p-value, the chance of an equal or larger value among requests
// without a link. It is suspicious below [Level]: once in a hundred thousand times without a
// reason. The tests of this package plant links, and each statistic finds them.
package traffic

// Package traffic records and analyses all bytes at a server, like an observer. [Tap] records
// requests and answers as they pass. The statistics look for anything that links two requests to
// one sender. Only tests import the package.
//
// Every statistic comes with its p-value, the chance of an equal or larger value among requests
// without a link. A statistic is suspicious if its p-value is below [Level], which happens once in
// a hundred thousand times without a link. The tests of this package plant links, and each
// statistic finds them.
package traffic

// Package traffic does what an observer of every byte that a server sees can do: note
// requests and answers as they pass ([Tap]), and look for anything that
// ties two of them to one sender, by statistics that are stated. Only tests
// import it.
//
// Every statistic comes with its p-value, the chance of an equal or larger value among
// requests without a tie, and is suspicious below [Level]: once in a hundred thousand
// times without a reason. The tests of this package plant ties, and each statistic finds them.
package traffic

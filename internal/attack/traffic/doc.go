// Package traffic is what somebody can do who sees every byte that a server
// sees: note requests and answers as they pass ([Tap]), and look for whatever
// ties two of them to one sender, by statistics that are stated. Only tests
// import it.
//
// Every statistic comes with the chance of as much or more among requests without
// a tie, and is suspicious below [Level]: once in a hundred thousand times without
// a reason. What the tests of this package plant, each of them finds.
package traffic

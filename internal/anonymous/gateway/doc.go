// Package gateway implements the server of a SecVM job. It publishes weights, counts the anonymous
// packages of many devices and takes a training step when the windows of an iteration have had
// enough participants. The last iteration only tests the model. A window is the time in which devices
// send packages. The gateway keeps
// counts and, until the iteration is over, parts of the nonces of spent tokens.
//
//	HOME/configuration     the signed configuration; devices need a copy
//	HOME/state             history of all windows, and results of the closed windows
//	HOME/key-N             seed of the key of window N, until that window is closed
//	HOME/packages-N        records of the open iteration N: sorted nonces of tokens, and sums
//	HOME/model             the model, after the last window
//
// # A package
//
// A package arrives with a token through Oblivious HTTP, alone in a request of constant size. The
// gateway checks it (size, token's challenge, iteration and model, token, and that the token is
// unspent), adds it to sums in memory, and answers when a record with it is on disk. A record holds
// at least [Config.Least] packages, except the records at the end of a window and in its time of
// grace. If few packages arrive, the gateway asks the device to send again; the token keeps the
// package from being counted twice. So a crash loses no acknowledged package, no file reveals which
// package came with which token or when, unless a record holds a single package, and no log line is
// about one package.
//
// # A window
//
// Devices learn from the signed history when a window opens. In mode hardened they take
// part once relay and issuer, to which the gateway shows the history, have countersigned
// it. After the window and its time of grace, the gateway sums its packages with those of
// earlier windows of the same iteration. With enough participants the learner takes its
// step, a new state starts the next iteration, and the records with all nonces
// are removed; otherwise the gateway announces another window.
package gateway

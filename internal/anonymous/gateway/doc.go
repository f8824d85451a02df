// Package gateway implements the server of a SecVM job: it publishes weights, counts the
// anonymous packages of many devices and takes a step when a window is over. It keeps
// counts only.
//
//	HOME/configuration     the signed configuration; devices need a copy
//	HOME/state             history, and what has been learnt, after the last closed window
//	HOME/key-N             seed of the window's key, while it is open
//	HOME/packages-N        records of the open iteration: sorted nonces of tokens, and sums
//	HOME/model             the model, when all is over
//
// # A package
//
// A package comes with a token through Oblivious HTTP, alone in a request of
// constant size. It is checked (size, token's challenge, iteration and model,
// token, whether the token has been spent), added to sums in memory, and
// answered when a record with it is on disk. Records hold the packages of many:
// at least [Config.Least], except the last one of a window. Where few come, the
// device is told to send again; the token keeps the package from being counted
// twice. So a crash loses nothing that was acknowledged, no file tells which
// package came with which token or when, and no log line is about one package.
//
// # A window
//
// Devices learn from the signed history when a window opens, and take part when relay
// and issuer, to whom the gateway shows the history, have countersigned it. When it has been
// over for the time of grace, its packages are added up, with the packages of earlier
// windows of the same iteration. With enough participants the learner takes its
// step, the state is replaced by one that begins the next iteration, and the
// records with all nonces are removed; otherwise another window is announced.
package gateway

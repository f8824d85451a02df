// Package devices runs the secure sums of many devices over HTTP. There is one server, and a device
// for each person. The device calls the server and is never called. The package knows no protocol:
// the job's method gives the plan, the machines and the model, as it does to a coordinator and its
// parties.
//
//	authority  signs the enrolment: the job, and the key of every device
//	server     runs its machines in package driver, with a journal; keeps messages for devices
//	device     checks the enrolment, runs its machines, keeps its ledger of sums
//
// # Requests
//
//	GET  /crowd/step?index=I                      the announcement of a step, once it has begun
//	POST /crowd/messages?step=I&session=S         one message to the server
//	GET  /crowd/messages?step=I&session=S&after=N the messages for a device behind its first N
//	POST /crowd/farewell?step=I&session=S         the device needs nothing more
//
// Each request's header has the device's name, the hash of the body and a signature of both, of method,
// address, length and enrolment ([request.Signer]). A request gets a place, and its body is read, only
// after it is verified. A GET waits for at most [waitTime]. A message is answered with 200 once it is in
// the server's journal or the machine has refused it. 503 asks for it again; 410 says that the session
// or the job has ended, or that the session has refused too many messages of the device.
//
// # Many sessions
//
// Some methods have a session for each iteration, and no session needs an earlier one (Passing in
// package method). A device that misses a session takes part in the next: 410 for a step that has ended
// names the step that runs. The server stores its state beside each new session (Snapshot of
// [method.CoordinatorSide]) and then erases the session before, as devices do. So at most two sessions
// are on a disk, however many a job has. The id of each session stays, on the server and in a device's
// vault, and so does the device's claim in its ledger.
//
// # A server that is killed
//
// The server's journals have the messages that it accepted. The messages to devices are not stored: a
// new process replays the journal, which gives the same messages in the same order, so the number after
// which a device asks keeps its meaning.
//
// # A device that is killed
//
// A device stores each announcement beside the session ([told]), so that a new process replays complete
// journals without the server. 410 ends a session only if its machine lacks a message: see
// [deviceMail].
//
// # Who learns what
//
// The sums are secure against an active server: see protocol/secagg. This package adds the enrolment. A
// device takes part only among keys that the authority has signed, so a server cannot invent people,
// swap keys, or show each device another set of devices. An authority that enrols invented people
// defeats every cohort, and so does one person with many devices. The network sees who sends how much
// and when; with HTTPS it sees no content.
package devices

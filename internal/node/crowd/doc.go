// Package crowd runs the secure sums of a crowd over HTTP: one server, and a device for each
// person, which calls the server and is never called. It knows no protocol. The job's method
// gives the plan, the machines and the model, as it does to a coordinator and its parties.
//
//	authority  signs the enrolment: the job, and the key of every device
//	server     runs its machines in package driver, with a journal; keeps messages for devices
//	device     checks the enrolment, runs its machines, keeps its ledger of sums
//
// # Requests
//
//	GET  /crowd/step?index=I                      the announcement of a step, once it has begun
//	POST /crowd/messages?session=S                one message to the server
//	GET  /crowd/messages?session=S&after=N        the messages for a device behind its first N
//
// Each request carries the device's name and its signature of method, address, body and
// enrolment. A GET waits for at most [waitTime]. A message is accepted with 200 once it is in
// the server's journal. 503 asks for it again, and 410 says that the session or the job is over.
//
// # A server that is killed
//
// The server's journal holds what it has accepted. The messages to devices are not stored: a
// new process replays the journal, which gives the same messages in the same order, so that
// the number after which a device asks keeps its meaning.
//
// # Who learns what
//
// The sums are secure against an active server: see protocol/secagg. What this package adds is
// the enrolment. A device takes part only among keys that the authority has signed, so that a
// server cannot invent people, swap keys, or show each device another crowd. An authority that
// enrols invented people defeats every cohort, and so does one person with many devices. The
// network sees who sends how much and when; with HTTPS it sees no content.
package crowd

// Package driver runs the machine of one session. It is the only place where a machine, a
// transport, a clock and a journal meet.
//
// For every event the driver does, in this order:
//
//  1. Step the machine. If the machine refuses a message, the other steps are
//     left out: the driver keeps the peer's first refusal, logs the refusal
//     unless the peer causes many, and acknowledges the message at the next
//     flush of the journal. After ErrLater the message is not acknowledged, so
//     that it comes again. After ErrPast it is acknowledged, but not logged.
//  2. Append the event, with the digest of every message the step sends, to
//     the journal.
//  3. If the step asks for it, sends or claims something or ends the session,
//     wait until the journal is on disk; otherwise the wait is shared with the
//     events that follow.
//  4. Acknowledge the message to the broker.
//  5. Claim names that may be used only once in the party's ledger.
//  6. Put the messages into the outbox, arm timers, go on.
//
// After a crash the journal is replayed into a fresh machine. Every message the machine sends again is
// compared with the digest in the journal; a difference means that the input, the build or the machine
// has changed, and the session is aborted before anything is sent. Messages not known to be delivered
// are sent again, sealed afresh; receivers drop them by their header. Before that the names of all
// replayed steps are claimed again, since the crash may have come between the journal and the ledger.
//
// Waiting messages are read before a timer expires, so that a busy process does not call a peer silent.
// But while 16 MiB or more wait for the network, the driver reads no messages.
//
// A final error has been journalled as the session's outcome, unless it says that this failed; an error
// for which errors.Is(err, [ErrInterrupted]) holds leaves a session that another Run resumes.
package driver

// Package mail receives messages over a transport connection, verifies them, and passes them to
// their sessions.
//
// Each coordinator and each party has one router. It checks every envelope (rule 5 in docs/rules.md): size,
// sender in the roster, signature, receiver, protocol, and for a session's message that the session is known
// and has this sender. Then it decrypts the envelope, and hands the message to the mailbox of its session, or
// to the control channel. Until a signature verifies, an error blames the transport and no party, because
// anyone could have sent the bytes.
//
// Control messages have a lane of their own at the transport, so that no session's messages delay them.
// Messages of a session that is announced but has not begun, and messages for a full mailbox, stay with
// the broker and come again, once it is known that a member of the session has signed them. Messages
// that nobody can use are acknowledged and counted by sender, and some of them are logged.
package mail

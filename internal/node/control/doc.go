// Package control lets the members of a federation come together for one
// session of a protocol, and part again. The coordinator and a party exchange
// these control messages, each sealed to the receiver's identity key and
// signed:
//
//	coordinator            party
//	Proposal     ------>            what is to run, for which job
//	             <------   Refusal  the operator's policy or the data says no
//	             <------ Acceptance the party's key for this session, signed
//	Directory    ------>            everybody's signed session keys: begin
//	     ... the protocol's own messages ...
//	             <------   Stall    this party cannot go on for now; or it goes on
//	Stall        ------>            another party cannot go on for now; or it goes on
//	             <------   Report   how it ended for this party
//	Closing      ------>            the job is over: destroy its secrets
//	             <------   Closed   destroyed
//	             <------   Holdings what has become of these jobs?
//
// Every control message may come twice: each is answered again in the same
// way. A party checks a proposal against the job it carries, so a coordinator
// cannot describe one thing and run another; and it checks the directory's
// signatures, so a coordinator cannot put its own keys between two parties.
package control

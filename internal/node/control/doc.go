// Package control defines the messages with which a coordinator and its parties begin and end
// sessions. Each message is sealed to the receiver's identity key and signed:
//
//	coordinator            party
//	Proposal     ------>            the session to run, and its job
//	             <------   Refusal  the operator's policy or the data does not allow it
//	             <------ Acceptance the party's key for this session, signed
//	Directory    ------>            all members' signed session keys: begin
//	     ... the protocol's own messages ...
//	             <------   Stall    this party cannot continue for now; or it continues
//	Stall        ------>            another party cannot continue for now; or it continues
//	             <------   Report   how the session ended for this party
//	Abort        ------>            the session has failed elsewhere
//	Closing      ------>            the job has ended: destroy its secrets
//	             <------   Closed   destroyed
//	             <------ Question   predict new rows
//	Refusal      ------>            the coordinator cannot answer the question
//	Busy         ------>            ask the question again later
//	Forget       ------>            erase what the job retained
//	             <------ Forgotten  erased
//	             <------   Holdings what is the state of these jobs?
//	             <------   Record   the head of the party's audit record; or which was the last?
//	Record       ------>            the last head that the party told
//
// Every control message may come twice, and the second copy does no harm: a proposal, a closing and a
// request to forget are answered again. A party checks a proposal against the job it carries, so a
// coordinator cannot describe one session and run another; and it checks the directory's signatures, so a
// coordinator cannot substitute its own keys between two parties.
package control

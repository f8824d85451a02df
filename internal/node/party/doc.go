// Package party implements the daemon of one data holder. It dials out to the coordinator's broker,
// waits for proposals, checks the proposals against the operator's policy, and runs the party's
// machines.
//
// It can be killed at any instruction. Started again, it replays the journals of its open sessions and
// continues them, except sessions that predict new rows. When a job closes, it destroys its sessions of the
// job and the rows that it read for the job, keeps only what the job retains here (for predictions, later
// jobs or its operator), and reports so to the coordinator.
//
// A party has no code that sends rows: rows go into machines, and machines send what their protocol
// says.
package party

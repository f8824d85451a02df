// Package coordinator implements the daemon that runs a federation's jobs. It proposes sessions to
// the parties, takes part as the server in those that have one, trains on their results, and keeps the
// results of jobs. It never holds a party's secrets.
//
// Jobs without a common party run side by side, each under a runner. Jobs that share a party run one after the other,
// in the order of submission. A job that continues an earlier one waits for all earlier jobs. A job is a folder:
//
//	jobs/ID/job.yaml      the canonical job file
//	jobs/ID/status.json   state, current stage, error; whether its retained state was erased
//	jobs/ID/result.json   metrics, timings, leakage
//	jobs/deleted/ID       empty: there was such a job
//
// Artifacts of a job that could reveal rows are in [Artifacts], sealed under a key for each job, which
// [Coordinator.Forget] erases: the model, unless nobody could use it; the decisions on held-out rows;
// the state from which a later job continues; and the state for questions about new rows, such as the
// tag of an encoder or the coordinator's part of a model by columns.
//
// A job that this program cannot read is set aside as it is, and the others run.
//
// After a crash the coordinator resumes all jobs that had begun: it rebuilds each finished session by
// replaying its journal, proposes the current one again, which every party answers as before, and
// computes the rest anew. Questions about new rows are not resumed: the party that asked can ask again.
// A job that its operator has aborted is not resumed but closed as a failed job. If a running job's journal,
// status or result cannot be written, even at the last write, that is an interruption, after which the process
// ends; another process on the same folders continues. A session that cannot be created fails its job.
package coordinator

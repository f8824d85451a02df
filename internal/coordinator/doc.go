// Package coordinator is the daemon that proposes sessions to the parties,
// takes part in them as the server, learns from what it gets, and keeps the
// results. It never holds a party's secrets.
//
// Jobs run one after the other, in the order of submission. A job is a folder:
//
//	jobs/ID/job.yaml      the canonical job file
//	jobs/ID/status.json   state, current stage, error
//	jobs/ID/model         the model; private, if it holds encoded rows
//	jobs/ID/answers       what questions about new rows must fit: the tag of an
//	                      encoder, or the coordinator's part of a model by columns
//	jobs/ID/result.json   metrics, timings, leakage
//	jobs/ID/decisions     the decisions on held-out rows
//
// After a crash the coordinator takes up the first job that has no outcome: it
// rebuilds each finished session by replaying its journal, proposes the
// current one again, which every party answers as before, and computes the
// rest anew. Questions about new rows are not taken up: whoever asked can ask
// again. A job that its operator has aborted is not taken up but closed, as
// one that failed.
package coordinator

// Package job reads and writes the job file, which names the data, the protocol, the kernel and the
// learner.
//
//	apiVersion: mercer/v1
//	kind: Job
//	metadata: {name: digits-hospitals}
//	spec:
//	  data:
//	    source: bundled:digits
//	    label: label
//	    partition: {parties: [north, south, east], skew: 0.3}
//	  protocol: {name: okra}
//	  kernel: {name: rbf, gamma: 0.5}
//	  learner: {name: svc, C: 10}
//
// Most numbers of kernel and learner that shape the model can be lists, and kernel can be a
// list of maps: a [Grid], of which cross-validation or the protocol's own rule chooses
// one cell.
//
// The file is strict. A key that is unknown, given twice, of the wrong type or
// without meaning where it stands is an error that names the line; so is the name
// of a protocol, kernel or learner that this version does not have. [Reader.Parse] fills every
// default that the file decides, so that a Job means the same to every reader, and [Job.Encode]
// writes the one canonical form, whose SHA-256 is [Job.Hash]. The package also reads the files of
// dictionaries and studies.
//
//	j, err := reader.Parse("job.yaml", data)
//	if err != nil {
//		return err // job.yaml:7: unknown key "gama" in kernel; did you mean "gamma"?
//	}
package job

// Package all holds the only list of methods.
package all

import "github.com/mercer-fl/mercer/internal/job"

// Reader returns a reader of job files for all methods.
func Reader() *job.Reader { return &job.Reader{Protocols: job.ProtocolNames()} }

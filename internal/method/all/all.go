// Package all lists all methods of the program. Only internal/local/all has another list: of their code for a process
// that owns all data.
package all

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/escaped"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/fdsvrg"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/fit"
	"github.com/mercer-fl/mercer/internal/method/flake"
	"github.com/mercer-fl/mercer/internal/method/gram"
	"github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/okra"
	"github.com/mercer-fl/mercer/internal/method/pooled"
	"github.com/mercer-fl/mercer/internal/method/ppsvmv"
	"github.com/mercer-fl/mercer/internal/method/sealed"
	"github.com/mercer-fl/mercer/internal/method/secureboost"
	"github.com/mercer-fl/mercer/internal/method/secvm"
)

// Reader returns a reader of job files for all methods and learners, in the order of the
// documentation.
func Reader() *job.Reader {
	return &job.Reader{Protocols: []job.Protocol{
		okra.Protocol(), flake.Protocol(), escaped.Protocol(), moments.Protocol(), sealed.Protocol(),
		gram.Protocol(), fdskl.Protocol(), ppsvmv.Protocol(), fdsvrg.Protocol(), secureboost.Protocol(),
		fedcfk.Protocol(), secvm.Protocol(), pooled.Method{},
	}, Learners: learner.Table(), Fit: fit.Protocol()}
}

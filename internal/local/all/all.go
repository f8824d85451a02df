// Package all lists the local support of all methods: their code for a process that owns the data of all
// parties. Only cmd/mercer and tests import it.
package all

import (
	fdskl "github.com/mercer-fl/mercer/internal/method/fdskl/local"
	fdsvrg "github.com/mercer-fl/mercer/internal/method/fdsvrg/local"
	fedcfk "github.com/mercer-fl/mercer/internal/method/fedcfk/local"
	"github.com/mercer-fl/mercer/internal/method/local"
	moments "github.com/mercer-fl/mercer/internal/method/moments/local"
	sealed "github.com/mercer-fl/mercer/internal/method/sealed/local"
	secureboost "github.com/mercer-fl/mercer/internal/method/secureboost/local"
	secvm "github.com/mercer-fl/mercer/internal/method/secvm/local"
)

// Local returns the local support of every method that has some.
func Local() []local.LocalSupport {
	return []local.LocalSupport{fdskl.Support(), fdsvrg.Support(), fedcfk.Support(), moments.Support(), sealed.Support(), secureboost.Support(), secvm.Support()}
}

// Package all holds the only list of what methods add in a process that owns all data.
package all

import (
	"github.com/mercer-fl/mercer/internal/local"
	fedcfk "github.com/mercer-fl/mercer/internal/method/fedcfk/local"
	moments "github.com/mercer-fl/mercer/internal/method/moments/local"
	secvm "github.com/mercer-fl/mercer/internal/method/secvm/local"
)

// Local lists it.
func Local() []local.Own { return []local.Own{fedcfk.Method{}, moments.Method{}, secvm.Method{}} }

package job_test

import (
	. "github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/all"
)

func reader() *Reader { return all.Reader() }

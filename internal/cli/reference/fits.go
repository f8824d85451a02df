package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
)

// fit is a protocol, a learner and a kernel that the reader accepts together.
type fit struct{ protocol, learner, kernel string }

type fits struct {
	reader *job.Reader
	list   []fit
}

// tryAll asks the reader about every protocol with every learner and every kernel.
func tryAll(r *job.Reader) *fits {
	f := &fits{reader: r}
	for _, p := range r.Protocols {
		for _, l := range r.Learners {
			for _, k := range r.Known().Kernels {
				if _, err := r.Parse("job.yaml", []byte(trial(p, l, job.KernelName(k)))); err == nil {
					f.list = append(f.list, fit{p.Name(), l.Name(), k})
				}
			}
		}
	}
	return f
}

// trial is a job that has what its protocol, learner and kernel need of it.
func trial(p job.Protocol, l job.Learner, k job.KernelName) string {
	partition := map[job.Direction]string{
		job.Rows: "by: rows, parties: [a, b]", job.Columns: "by: columns, parties: [a, b]", job.Devices: "by: devices",
	}[p.Traits().Partition()]
	label, protocol, kernel := job.NoLabel, "name: "+p.Name(), "name: "+string(k)
	if l.Task().Labels != "" {
		label = "y"
	}
	own := p.New().Section().Keys()
	if l.Task().Classes && slices.Contains(own, "classes") {
		protocol += ", classes: [a, b]"
	}
	if l.Task().Numbers && slices.Contains(own, "targets") {
		protocol += ", targets: [0, 1]"
	}
	for _, key := range k.Keys() {
		if value := map[string]string{"gamma": "1", "degree": "2", "clause": "2", "coefficients": "[0, 1]"}[key]; value != "" {
			kernel += ", " + key + ": " + value
		}
	}
	learner := "name: " + l.Name()
	if slices.Contains(l.New().Section().Keys(), "view") {
		learner += ", view: [x]"
	}
	return fmt.Sprintf(`apiVersion: mercer/v1
kind: Job
metadata: {name: trial}
spec:
  data: {source: a.csv, label: %s, partition: {%s}, test: {every: 10}}
  protocol: {%s}
  kernel: {%s}
  learner: {%s}
`, label, partition, protocol, kernel, learner)
}

// each lists names once, in the order of the reader.
func (f *fits) each(of func(fit) (bool, string)) string {
	var names []string
	for _, one := range f.list {
		if is, name := of(one); is && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

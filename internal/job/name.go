package job

// Names are the words by which a policy speaks of jobs.
type Names struct{ Protocols, Modes, Kernels, Learners []string }

// Known returns all that a job file of this version may name.
func Known() Names {
	return Names{
		Protocols: texts(protocolNames()), Modes: texts(modes()),
		Kernels: texts(kernelNames()), Learners: texts(learnerNames()),
	}
}

func texts[T ~string](names []T) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return list
}

package job

// String returns the protocol's name and all its settings, defaults included, as
// the job file writes them: "okra, mode = hardened, encoder = hadamard, ...".
func (p Protocol) String() string { return p.Section().String() }

// String returns the kernel's name and all its settings.
func (k Kernel) String() string { return k.Section().String() }

// String returns the learner's name and all its settings.
func (l Learner) String() string { return l.Section().String() }

package job

// String returns the kernel's name and all its settings.
func (k Kernel) String() string { return k.Section().String() }

// String returns the learner's name and all its settings.
func (l Learner) String() string { return l.Section().String() }

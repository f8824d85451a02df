package job

// String returns the kernel's name and all its settings.
func (k Kernel) String() string { return k.Section().String() }

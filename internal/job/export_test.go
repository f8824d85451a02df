package job

// For tests that need all methods, and so stand outside.
var (
	KernelNames = kernelNames
	Merged      = mergeMaps
)

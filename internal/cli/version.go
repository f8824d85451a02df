package cli

import (
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/mercer-fl/mercer/internal/fitserver"
)

// versionResult describes the running program and its machine.
type versionResult struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Revision string   `json:"revision"` // revision of the source; "" if the build does not know it
	Time     string   `json:"revision_time"`
	Modified bool     `json:"modified"` // whether the source had uncommitted changes
	CPU      []string `json:"cpu_features"`
	// Interface is the number of the interface with the Python package.
	Interface int `json:"interface"`
}

// buildVersion returns the version that the linker wrote into the program.
func buildVersion() versionResult {
	v := versionResult{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: features(), Interface: fitserver.Interface}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// features returns the names of the processor's vector instructions.
func features() []string {
	list := []string{} // not nil, so that JSON has [] instead of null
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA}, {"avx512f", cpu.X86.HasAVX512F},
		{"avx512dq", cpu.X86.HasAVX512DQ}, {"avx512vl", cpu.X86.HasAVX512VL},
		{"asimd", cpu.ARM64.HasASIMD}, {"sve", cpu.ARM64.HasSVE},
	} {
		if f.has {
			list = append(list, f.name)
		}
	}
	return list
}

// Print writes one fact on each line.
func (v versionResult) Print(w io.Writer) error {
	p := &printer{w: w}
	p.linef("mercer %s", v.Version)
	p.linef("go        %s %s/%s", v.Go, v.OS, v.Arch)
	switch {
	case v.Revision == "":
		p.linef("revision  unknown")
	case v.Modified:
		p.linef("revision  %s of %s, with changes", v.Revision, v.Time)
	default:
		p.linef("revision  %s of %s", v.Revision, v.Time)
	}
	if len(v.CPU) == 0 {
		p.linef("processor no known vector instructions")
	} else {
		p.linef("processor %s", strings.Join(v.CPU, " "))
	}
	return p.err
}

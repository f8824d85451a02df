package job

import "github.com/mercer-fl/mercer/internal/job/section"

// Mode names the version of a protocol that runs: the hardened one or the paper's.
type Mode string

// Hardened carries the fixes of published flaws; Paper follows the paper to
// the letter, for reproduction.
const (
	Hardened Mode = "hardened"
	Paper    Mode = "paper"
)

func modes() []Mode { return []Mode{Hardened, Paper} }

// Moded is the mode among a protocol's keys, for protocols that have one.
type Moded struct{ Mode Mode }

// ModeKey declares the key mode.
func (m *Moded) ModeKey() section.Field {
	return section.Field{
		Key: "mode", Value: section.Choice[Mode]{Noun: "mode", Dst: &m.Mode, Known: modes()}, Default: string(Hardened),
		Doc: "The version of the protocol: hardened fixes published flaws, paper follows the paper to the letter.",
	}
}

// Mode returns the mode of a protocol that has one, or "".
func (n Named) Mode() Mode {
	return n.Demands().Mode
}

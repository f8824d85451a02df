package origin

import "testing"

// Names that only a search path would find are refused: what they find is others' business.
func TestCheckCommand(t *testing.T) {
	if err := CheckCommand(nil); err == nil {
		t.Error("no command is fine")
	}
	if err := CheckCommand([]string{"python3"}); err == nil || err.Error() != `command "python3" is no path; write ./python3 for a file of this folder, or an absolute path` {
		t.Errorf("got %v", err)
	}
}

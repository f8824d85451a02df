package prepare

import "testing"

func TestCanonicalRules(t *testing.T) {
	theirs := map[string]Theirs{"kunde": {As: "patient"}, "geburt": {As: "born"}}
	for _, tt := range []struct {
		rule IDRule
		want string
	}{
		{IDRule{}, ""},
		{IDRule{Columns: []string{"kunde"}}, ""},
		{IDRule{Columns: []string{"kunde"}, Normalize: []string{"trim"}}, `["one column"] normalized by ["trim"]`},
		{IDRule{Columns: []string{"patient"}, Normalize: []string{"trim"}}, `["one column"] normalized by ["trim"]`},
		{IDRule{Columns: []string{"geburt", "kunde"}}, `["born" "patient"] normalized by []`},
		{IDRule{Columns: []string{"kunde", "geburt"}}, `["patient" "born"] normalized by []`},
	} {
		if got := tt.rule.Canonical(theirs); got != tt.want {
			t.Errorf("%+v is %s, want %s", tt.rule, got, tt.want)
		}
	}
}

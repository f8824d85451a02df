package psi

import (
	"strings"
	"testing"
)

func TestLeakage(t *testing.T) {
	for _, c := range []struct {
		facts Facts
		role  string
		want  string
	}{
		{Facts{Parties: 2, Common: 7, MaxIDs: 100}, "party", "which 7 of its own rows all parties have"},
		{Facts{Parties: 2, MaxIDs: 100}, "party", "and which of its own rows all parties have"},
		{Facts{Parties: 2, MaxIDs: 100}, "party", "up to 100 in this session"},
		{Facts{Parties: 2}, "server", "takes no part"},
		{Facts{Parties: 2}, "coalition", "no more than the party alone"},
		{Facts{Parties: 4}, "server", "the blinded sets of 4 parties"},
		{Facts{Parties: 4}, "server", "2^4 numbers"},
		{Facts{Parties: 4, MaxIDs: 9}, "coalition", "up to 9 ids each"},
		{Facts{Parties: 4}, "broker", "how many ids each party has"},
	} {
		if got := strings.Join(Leakage(c.facts)[c.role], "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s is told\n%s\nwithout %q", c.facts, c.role, got, c.want)
		}
	}
}

package columns

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

func TestRuleAmongTheCommonIDs(t *testing.T) {
	ruled := alignment{rule: `["one column"] normalized by ["trim"]`}
	for _, tt := range []struct {
		of          alignment
		order, want []int
		says        string
	}{
		{alignment{}, []int{2, 0}, []int{2, 0}, ""},
		{ruled, []int{2, 3, 0}, []int{2, 0}, ""}, // 3 stands for the rule
		{ruled, []int{2, 0}, nil, "another party makes its ids by another rule"},
		{ruled, []int{3}, nil, "no id is common to all parties"},
	} {
		got, err := tt.of.withoutRule(tt.order, 3)
		if !slices.Equal(got, tt.want) || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v, %v", tt.order, got, err)
		}
		if err != nil && strings.Contains(fault.NoticeOf(err).Sentence(), "trim") {
			t.Errorf("peers are told %s", fault.NoticeOf(err).Sentence())
		}
	}
	if a, b := ruleID("one"), ruleID("two"); len(a) != 1 || len(b) != 1 || string(a[0]) == string(b[0]) || ruleID("") != nil {
		t.Errorf("rules stand as %x and %x", a, b)
	}
}

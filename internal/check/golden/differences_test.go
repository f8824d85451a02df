package golden

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// most bounds the number of printed differences, and widest the bytes of each value.
const most, widest = 20, 160

// differences returns a line for each place where two values differ, with the old and the
// new content, or "". The values are decoded JSON values, or lists of lines.
func differences(before, now any) string {
	lines := differ(nil, "", before, now)
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// differ adds the lines of the values at one place.
func differ(lines []string, place string, before, now any) []string {
	switch old := before.(type) {
	case map[string]any:
		if at, same := now.(map[string]any); same {
			keys := slices.Compact(slices.Sorted(func(yield func(string) bool) {
				maps.Keys(old)(yield)
				maps.Keys(at)(yield)
			}))
			for _, k := range keys {
				lines = differ(lines, place+"."+k, value(old, k), value(at, k))
			}
			return lines
		}
	case []any:
		if at, same := now.([]any); same {
			return differLists(lines, place, old, at)
		}
	case []string:
		if at, same := now.([]string); same {
			return differLists(lines, place, old, at)
		}
	}
	if a, b := shown(before), shown(now); a != b {
		lines = append(lines, fmt.Sprintf("%s: %.*s\n\tis now %.*s", place, widest, a, widest, b))
	}
	return lines
}

// missing stands for a missing value.
type missing struct{}

func value(m map[string]any, key string) any {
	if v, is := m[key]; is {
		return v
	}
	return missing{}
}

func shown(v any) string {
	if v == (missing{}) {
		return "nothing"
	}
	return strings.TrimSuffix(encode(v), "\n")
}

// differLists adds the lines of two lists, without their common start and end; additional
// entries are in between.
func differLists[V any](lines []string, place string, before, now []V) []string {
	first := 0
	for first < min(len(before), len(now)) && shown(before[first]) == shown(now[first]) {
		first++
	}
	last := 0
	for last < min(len(before), len(now))-first && shown(before[len(before)-1-last]) == shown(now[len(now)-1-last]) {
		last++
	}
	for i := first; i < max(len(before), len(now))-last; i++ {
		var a, b any = missing{}, missing{}
		if i < len(before)-last {
			a = before[i]
		}
		if i < len(now)-last {
			b = now[i]
		}
		lines = differ(lines, fmt.Sprintf("%s[%d]", place, i), a, b)
	}
	return lines
}

// A difference is found at any place, and reported in few lines.
func TestDifferences(t *testing.T) {
	long := make([]string, 60)
	for i := range long {
		long[i] = fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		before, now any
		want        string
	}{
		"same":      {decode(t, `{"a": [1, {"b": "<"}]}`), decode(t, `{"a":[1,{"b":"<"}]}`), ""},
		"other":     {decode(t, `{"a": [1, {"b": 2}]}`), decode(t, `{"a": [1, {"b": 3}]}`), ".a[1].b: 2\n\tis now 3"},
		"digits":    {decode(t, `{"a": 1.0}`), decode(t, `{"a": 1}`), ".a: 1.0\n\tis now 1"},
		"kind":      {decode(t, `{"a": {"b": 1}}`), decode(t, `{"a": [1]}`), `.a: {` + "\n \"b\": 1\n}\n\tis now [\n 1\n]"},
		"null":      {decode(t, `{"a": null}`), decode(t, `{}`), ".a: null\n\tis now nothing"},
		"came":      {decode(t, `{}`), decode(t, `{"a": null}`), ".a: nothing\n\tis now null"},
		"inserted":  {[]string{"a", "b", "c"}, []string{"a", "x", "b", "c"}, "[1]: nothing\n\tis now \"x\""},
		"removed":   {[]string{"a", "a", "c"}, []string{"a", "c"}, "[1]: \"a\"\n\tis now nothing"},
		"too many":  {long[:30], long[30:], differences(long[:20], long[30:50]) + "\nand 10 more"},
		"too broad": {strings.Repeat("a", 1000), "b", ": \"" + strings.Repeat("a", widest-1) + "\n\tis now \"b\""},
	} {
		if got := differences(c.before, c.now); got != c.want {
			t.Errorf("%s:\n%s\n\twant\n%s", name, got, c.want)
		}
	}
}

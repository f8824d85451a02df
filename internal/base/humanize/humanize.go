// Package humanize formats counts, sizes and answers for people.
package humanize

import (
	"fmt"
	"strings"
)

// Count returns a count with its noun, such as "1 row" or "2 rows".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes returns a size as text in powers of 1024, such as "1.5 KiB".
func Bytes[N int | int64 | uint64](n N) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, prefix := float64(n), -1
	for f >= unit {
		f /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", f, "KMGTPE"[prefix])
}

// YesNo returns "yes" or "no".
func YesNo(yes bool) string { return map[bool]string{true: "yes", false: "no"}[yes] }

// A returns a name with its article, such as "an svc" or "a ridge". The letters of svc and svr are
// spoken one by one.
func A(name string) string {
	if strings.HasPrefix(name, "sv") {
		return "an " + name
	}
	return "a " + name
}

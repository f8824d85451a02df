// Package humanize formats counts, sizes and answers for people.
package humanize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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

// ThreeDigits writes a number with three significant digits, without an exponent where a person
// would write none: 29100, 0.0125.
func ThreeDigits(v float64) string {
	short := strconv.FormatFloat(v, 'g', 3, 64)
	if math.Abs(v) >= 1e15 || !strings.Contains(short, "e+") {
		return short
	}
	rounded, _ := strconv.ParseFloat(short, 64) // never fails: short is a number below 1e15
	return strconv.FormatFloat(rounded, 'f', -1, 64)
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

// Duration returns a time in whole seconds, minutes or hours, such as "12 s", "3 min" or "2 h 5 min".
func Duration(d time.Duration) string {
	switch seconds := int(d.Round(time.Second) / time.Second); {
	case seconds < 120:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%d min", (seconds+30)/60)
	default:
		return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
	}
}

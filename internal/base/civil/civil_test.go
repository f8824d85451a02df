package civil

import (
	"testing"
	"time"
)

// The days are package time's, over every day of 1,200 years and at the ends of the calendar.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	check := func(n int64) {
		t.Helper()
		want := time.Unix(n*86400, 0).UTC()
		y, m, d := Date(n)
		if y != want.Year() || m != int(want.Month()) || d != want.Day() || Weekday(n) != int(want.Weekday()+6)%7 {
			t.Fatalf("day %d is %d-%d-%d, want %v", n, y, m, d, want)
		}
		if back, ok := Days(y, m, d); back != n || !ok {
			t.Fatalf("%d-%d-%d is day %d (%t), want %d", y, m, d, back, ok, n)
		}
	}
	for n := int64(-220000); n < 220000; n++ {
		check(n)
	}
	for _, year := range []int{0, 1, 1600, 9999} {
		check(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Unix() / 86400)
		check(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	for _, bad := range [][3]int{{2023, 2, 29}, {1900, 2, 29}, {2024, 4, 31}, {2024, 0, 1}, {2024, 13, 1}, {2024, 1, 0}, {2024, 1, 32}} {
		if _, ok := Days(bad[0], bad[1], bad[2]); ok {
			t.Errorf("%v is a day", bad)
		}
	}
}

package date

import "testing"

// The days are facts of the calendar: the epoch, leap years and centuries around it, and the ends of four-digit years.
func TestDays(t *testing.T) {
	for _, tt := range []struct {
		year, month, day int
		days             int64
		weekday          int
	}{
		{1970, 1, 1, 0, 3}, {1969, 12, 31, -1, 2}, {2000, 2, 29, 11016, 1}, {2000, 3, 1, 11017, 2}, {2024, 12, 31, 20088, 1},
		{1900, 2, 28, -25509, 2}, {1900, 3, 1, -25508, 3}, {1600, 2, 29, -135081, 1}, {0, 1, 1, -719528, 5}, {9999, 12, 31, 2932896, 4},
	} {
		if n, ok := Days(tt.year, tt.month, tt.day); n != tt.days || !ok {
			t.Errorf("%d-%d-%d is day %d (%t), want %d", tt.year, tt.month, tt.day, n, ok, tt.days)
		}
		if y, m, d := Of(tt.days); y != tt.year || m != tt.month || d != tt.day {
			t.Errorf("day %d is %d-%d-%d, want %d-%d-%d", tt.days, y, m, d, tt.year, tt.month, tt.day)
		}
		if w := Weekday(tt.days); w != tt.weekday {
			t.Errorf("the weekday of day %d is %d, want %d", tt.days, w, tt.weekday)
		}
	}
}

// Every day of 1,200 years comes back.
func TestDaysComeBack(t *testing.T) {
	for n := int64(-220000); n < 220000; n++ {
		if back, ok := Days(Of(n)); back != n || !ok {
			t.Fatalf("day %d comes back as %d (%t)", n, back, ok)
		}
	}
}

func TestDatesThatDoNotExist(t *testing.T) {
	for _, bad := range [][3]int{{2023, 2, 29}, {1900, 2, 29}, {2024, 4, 31}, {2024, 0, 1}, {2024, 13, 1}, {2024, 1, 0}, {2024, 1, 32}} {
		if _, ok := Days(bad[0], bad[1], bad[2]); ok {
			t.Errorf("%v exists", bad)
		}
	}
}

// Package date converts between calendar dates and days since 1970-01-01 (UTC, proleptic Gregorian calendar).
package date

import "time"

const secondsPerDay = 86400

// Days returns the number of days since 1970-01-01. It returns false if the date does not exist, such as
// February 30.
func Days(year, month, day int) (int64, bool) {
	at := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	y, m, d := at.Date()
	return at.Unix() / secondsPerDay, y == year && int(m) == month && d == day
}

// Of returns the date that is a number of days after 1970-01-01.
func Of(days int64) (year, month, day int) {
	y, m, d := time.Unix(days*secondsPerDay, 0).UTC().Date()
	return y, int(m), d
}

// Weekday returns the weekday of the date that is a number of days after 1970-01-01: 0 for Monday to 6 for Sunday.
func Weekday(days int64) int {
	return (int(time.Unix(days*secondsPerDay, 0).UTC().Weekday()) + 6) % 7
}

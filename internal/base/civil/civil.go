// Package civil counts days of the Gregorian calendar, without a clock.
package civil

// daysOfCycle is the number of days of 400 years.
const daysOfCycle = 146097

// Days returns the number of days since 1970-01-01, and false where there is no such day.
func Days(year, month, day int) (int64, bool) {
	if month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	n := count(year, month, day)
	y, m, d := Date(n)
	return n, y == year && m == month && d == day
}

// count counts from March on, so that a leap day is the last one of its year.
func count(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	cycle := floor(int64(year), 400)
	of := int64(year) - 400*cycle
	return cycle*daysOfCycle + of*365 + of/4 - of/100 + int64(153*(month-3)+2)/5 + int64(day) - 719469
}

// Date returns the day at a number of days after 1970-01-01.
func Date(days int64) (year, month, day int) {
	cycle := floor(days+719468, daysOfCycle)
	n := days + 719468 - cycle*daysOfCycle
	of := (n - n/1460 + n/36524 - n/146096) / 365
	n -= 365*of + of/4 - of/100
	m := (5*n + 2) / 153
	year, month, day = int(of+400*cycle), int(m+3), int(n-(153*m+2)/5+1)
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// Weekday returns 0 for a Monday to 6 for a Sunday.
func Weekday(days int64) int { return int(days + 3 - 7*floor(days+3, 7)) }

func floor(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

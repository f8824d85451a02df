//go:build !slow

package sealed

// thorough is whether tests try all places, sizes and schedules.
const thorough = false

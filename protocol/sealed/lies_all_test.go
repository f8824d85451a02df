//go:build slow

package sealed

// allLies is whether tests of lies try all places and sizes.
const allLies = true

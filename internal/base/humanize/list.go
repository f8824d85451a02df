package humanize

import (
	"fmt"
	"strings"
)

// List joins the texts of items by commas. It shows at most limit items, the first ones, and counts
// the others: "a, b, and 3 more".
func List[T any](items []T, limit int, text func(T) string) string {
	shown := make([]string, min(len(items), limit))
	for i := range shown {
		shown[i] = text(items[i])
	}
	return Shown(shown, len(items)-len(shown))
}

// Shown joins the texts of the items that a list shows, and counts those that it does not show, if
// any.
func Shown(texts []string, others int) string {
	joined := strings.Join(texts, ", ")
	if others > 0 {
		joined += fmt.Sprintf(", and %d more", others)
	}
	return joined
}

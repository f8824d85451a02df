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

// Names joins names by commas, at most limit of them, as [List] does.
func Names(names []string, limit int) string {
	return List(names, limit, func(name string) string { return name })
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

// Package fdskl lets workers who hold different columns of the same rows train a
// kernel machine by random features.
package fdskl

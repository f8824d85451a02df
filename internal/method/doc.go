// Package method declares what a way to learn from data that stays where it is must be able to do.
package method

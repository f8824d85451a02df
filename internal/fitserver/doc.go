// Package fitserver trains kernel machines for another program on the same computer, in any language.
// That program starts this one as its child, writes requests to its stdin, and reads one answer to
// each from its stdout. The child ends when its stdin ends.
//
// A request and an answer are frames. A frame begins with the length of its header, four bytes,
// least significant byte first. The header is JSON. It lists the arrays that follow it, with their
// names, types and shapes. The bytes of an array are its numbers in order, row by row, least
// significant byte first. The types are f8 (float64), i8 (int64) and i4 (int32).
//
// The parent is trusted with the time and memory of its own child. A frame is still checked in full,
// and an array of more than 32 MB takes memory only as its bytes arrive. The answer to the operation
// "interface" has the number of the interface, by which the parent recognises a program of another
// version.
package fitserver

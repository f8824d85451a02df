package fitserver

// Interface is the number of the interface between the Python package and its programs: the requests
// and answers of this package, and the commands and documents of mercer. The package refuses a program
// with another number, so it grows with each change after which an older package or program would
// misread the other (_INTERFACE in python/mercer/_bin.py).
const Interface = 1

package method

// Closing tells a party of a finished job's model what it needs to keep something for questions about
// new rows.
type Closing struct {
	Classes []string // the model's; nil where it has none, or where the job keeps predictions closed
}

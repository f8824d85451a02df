package protocol

// Cost is what a session, or a computation, takes if every member follows the protocol and none
// vanishes. Each protocol computes it beside its messages, from the session and from sizes that its
// members know, without running a machine. It depends on no content of a message.
type Cost struct {
	Flows []Flow
	// Rounds is the number of messages in the longest chain in which each message waits for the one
	// before. A body that is sent in chunks counts once.
	Rounds  int
	Members map[string]Load // what each member computes and holds; a member without an entry does next to nothing
	// Assumed says what the cost assumes about the data; "" if the cost does not depend on the data.
	Assumed string
	// Warning says what the member who submits the job should know of its result before it runs; "" if nothing.
	Warning string
}

// Flow counts the messages of one round and kind that one member sends another in a session. If Kind is
// empty, it counts the messages of all rounds and kinds.
type Flow struct {
	From, To string
	Round    uint16
	Kind     string
	Messages int
	Bytes    int64 // bytes of all bodies together
}

// Load is what one member computes and holds.
type Load struct {
	Effort
	Held int64 // bytes of memory during the session, besides those that earlier sessions keep
	Kept int64 // bytes of memory that stay until the job ends
}

// Effort counts the operations that dominate the time of a computation.
type Effort struct {
	Products    float64 // multiply-adds of products of dense matrices
	Functions   float64 // values of an elementary function, such as a kernel's exponential or a cosine
	Butterflies float64 // additions and subtractions of pairs in Walsh-Hadamard transforms
	Points      float64 // multiplications of elements of the group ristretto255
	Agreements  float64 // agreements on a key by X25519
	Keystream   float64 // bytes of pseudorandom masks
	Moved       float64 // bytes of large arrays that are read or written
	Hashed      float64 // bytes that are hashed by SHA-256, besides the bytes of messages
}

// Plus returns the sum of two efforts.
func (e Effort) Plus(o Effort) Effort {
	return Effort{
		Products: e.Products + o.Products, Functions: e.Functions + o.Functions, Butterflies: e.Butterflies + o.Butterflies,
		Points: e.Points + o.Points, Agreements: e.Agreements + o.Agreements, Keystream: e.Keystream + o.Keystream, Moved: e.Moved + o.Moved, Hashed: e.Hashed + o.Hashed,
	}
}

// Send adds one message to the cost.
func (c *Cost) Send(from, to string, round uint16, kind string, bytes int) {
	c.Add(Flow{From: from, To: to, Round: round, Kind: kind, Messages: 1, Bytes: int64(bytes)})
}

// Add adds messages to the cost. A flow without messages adds nothing.
func (c *Cost) Add(f Flow) {
	if f.Messages > 0 {
		c.Flows = append(c.Flows, f)
	}
}

// Load adds what a member computes and holds.
func (c *Cost) Load(member string, l Load) {
	if c.Members == nil {
		c.Members = make(map[string]Load)
	}
	old := c.Members[member]
	c.Members[member] = Load{old.Plus(l.Effort), old.Held + l.Held, old.Kept + l.Kept}
}

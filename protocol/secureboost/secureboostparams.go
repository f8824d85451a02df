package secureboost

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/paillier"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "secureboost"
	Version uint16 = 2
)

// Encryption is the method that hides gradients from the hosts.
type Encryption string

// A session uses one of these encryptions.
const (
	None     Encryption = "none"     // hosts receive gradients in the clear
	Paillier Encryption = "paillier" // hosts add up Paillier ciphertexts of gradients
)

// Limits on a session.
const (
	MaxHosts  = 30
	MaxRows   = 1<<20 - 1
	MaxRounds = 1 << 12
	MaxDepth  = 8
	MaxBins   = 256
	// MaxColumns limits the number of a member's columns. MaxCells limits the total number of bins of
	// all these columns.
	MaxColumns = 1 << 14
	MaxCells   = 1 << 20
	// MostGradient limits the absolute value of a gradient and of a second derivative.
	MostGradient = 1 << 24
)

// Spec holds the settings on which all members agree before a session.
type Spec struct {
	Encryption Encryption // "" means Paillier
	// Rows is the number of aligned rows. The first Training rows train the trees.
	Rows, Training int
	// Rounds limits the number of trees. Depth limits the depth of each tree.
	Rounds, Depth int
	// Alignment is the commitment to the rows and their order. It must be the same at all parties.
	Alignment [sha256.Size]byte
	// InsecureKeyBits is the key length in bits for tests. 0 means 2048.
	InsecureKeyBits int
}

// Params is a validated [Spec]. It never changes. Values are comparable.
type Params struct{ spec Spec }

// NewParams replaces zero settings of s by their defaults. It returns an error if a setting is
// invalid.
func NewParams(s Spec) (Params, error) {
	if s.Encryption == "" {
		s.Encryption = Paillier
	}
	return Params{s}, s.validate()
}

func (s Spec) validate() error {
	switch {
	case s.Encryption != None && s.Encryption != Paillier:
		return fmt.Errorf("secureboost: encryption %q is unknown; choose \"none\" or \"paillier\"", string(s.Encryption))
	case s.Rows < 1 || s.Rows > MaxRows:
		return fmt.Errorf("secureboost: there are %d aligned rows; 1 to %d are allowed", s.Rows, MaxRows)
	case s.Training < 1 || s.Training > s.Rows:
		return fmt.Errorf("secureboost: there are %d training rows among %d rows; at least 1 and at most all rows must be training rows", s.Training, s.Rows)
	case s.Rounds < 1 || s.Rounds > MaxRounds:
		return fmt.Errorf("secureboost: the number of rounds is %d; 1 to %d are allowed", s.Rounds, MaxRounds)
	case s.Depth < 1 || s.Depth > MaxDepth:
		return fmt.Errorf("secureboost: the depth is %d; 1 to %d are allowed", s.Depth, MaxDepth)
	case s.InsecureKeyBits != 0 && (s.InsecureKeyBits < 256 || s.InsecureKeyBits > 1024 || s.InsecureKeyBits%16 != 0):
		return fmt.Errorf("secureboost: the key for tests has %d bits; choose 256 to 1024, divisible by 16", s.InsecureKeyBits)
	}
	return nil
}

// Spec returns the settings, including the defaults.
func (p Params) Spec() Spec { return p.spec }

func (p Params) keyBits() int {
	if p.spec.InsecureKeyBits != 0 {
		return p.spec.InsecureKeyBits
	}
	return paillier.Bits
}

// Encode returns the canonical encoding, for Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/secureboost")
	w.String(string(p.spec.Encryption))
	for _, n := range []int{p.spec.Rows, p.spec.Training, p.spec.Rounds, p.spec.Depth, p.spec.InsecureKeyBits} {
		w.Uint32(uint32(n))
	}
	w.Fixed(p.spec.Alignment[:])
	return w.Bytes()
}

// DecodeParams decodes and validates the output of Encode.
func DecodeParams(b []byte) (Params, error) {
	const longest = 32
	r := wire.NewReader(b)
	if s := r.String(longest); r.Err() == nil && s != "mercer/v1/secureboost" {
		r.Fail(errors.New("the parameters are not for secureboost"))
	}
	s := Spec{Encryption: Encryption(r.String(longest))}
	for _, n := range []*int{&s.Rows, &s.Training, &s.Rounds, &s.Depth, &s.InsecureKeyBits} {
		*n = int(r.Uint32())
	}
	r.Fixed(s.Alignment[:])
	if err := r.Close("secureboost: parameters"); err != nil {
		return Params{}, err
	}
	if err := s.validate(); err != nil {
		return Params{}, err
	}
	return Params{s}, nil
}

// ValidateSession returns the parameters, or an error if this protocol cannot run the session. The
// session must have one leader, which is the guest, at least one host, and no other members.
func ValidateSession(s *protocol.Session) (Params, error) {
	guests, hosts := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case s.Protocol != Name || s.Version != Version:
		return Params{}, fmt.Errorf("secureboost: the session runs %s version %d; this program runs %s version %d", s.Protocol, s.Version, Name, Version)
	case guests != 1 || hosts < 1 || hosts > MaxHosts || guests+hosts != len(s.Members):
		return Params{}, fmt.Errorf("secureboost: a session requires one leader, 1 to %d parties and no other member; this session has %d leaders, %d parties and %d others", MaxHosts, guests, hosts, len(s.Members)-guests-hosts)
	}
	return DecodeParams(s.Params)
}

// Facts holds the numbers on which the leakage of a job depends.
type Facts struct {
	Encryption                       Encryption
	Hosts, Rows, Rounds, Depth, Bins int
}

// labelsRevealed is the share of labels that the nodes reveal in TestAttackNodesGiveLabelsAway.
const labelsRevealed = "94.0 % of 300 rows of the breast cancer data after two levels of the first tree, where the more frequent class alone is right for 51.3 %"

// Leakage describes in plain words what each role learns in this job beyond its own data and
// the result. The keys are "active", "passive", "coalition" and "broker".
func Leakage(f Facts) map[string][]string {
	return map[string][]string{
		"active": {
			fmt.Sprintf("In each of up to %d trees the active party learns, for every node that is no leaf, the sums of its gradients over each of up to %d bins of every column of the others. In the first tree these reveal how many rows of a node are in each bin.", f.Rounds, f.Bins),
			"Where another party's column splits a node, it learns which rows are on which side. It does not learn a column's name, unit or values.",
			binsRead + " " + valuesRead + " It can also split nodes anywhere and learns the side of every row. Nothing prevents this.",
		},
		"passive":   passiveLeakage(f),
		"coalition": {"Passive parties together learn no more than each of them. " + coalitionKnows},
		"broker":    {"The broker sees who sends to whom, when and how much. From the amounts it can compute the number of rows and of trees, and how many bins a party's columns have. It sees no content: messages are sealed end to end."},
	}
}

// Sentences of the statement that say who can reconstruct rows.
const (
	binsRead       = "A dishonest active party reads the bins of all rows in every column: it gives each row a power of 2, and the sums show which rows are in them."
	signsRead      = "In the first tree their signs are the labels: it reads all of them."
	nodesRead      = "Anyone who knows the more frequent class of each node can guess the labels"
	valuesRead     = "If a column has no more values than bins (yes or no, codes), its bins are its values. Nobody says whether columns do, so assume that they do."
	passiveSees    = "It learns no gradient and no sum: these are encrypted under a key of the active party."
	coalitionKnows = "The active party together with some of them learns what they know together."
)

// Exposures returns how much of the rows of others each role can reconstruct. The keys are "active",
// "passive" and "coalition", and the sentences are those of [Leakage]. The exposures include what a
// member learns by deviating from the protocol. No member that computes the exposures knows how many
// values the others' columns have, so the exposures assume few.
func Exposures(f Facts) map[string]protocol.Exposure {
	passive := protocol.Exposure{Reach: protocol.ReachPart, Why: nodesRead}
	if f.Encryption == None {
		passive = protocol.Exposure{Reach: protocol.ReachPart, Why: signsRead}
	}
	return map[string]protocol.Exposure{
		"active":    {Reach: protocol.ReachAll, Why: binsRead + " " + valuesRead},
		"passive":   passive,
		"coalition": {Reach: protocol.ReachAll, Why: coalitionKnows},
	}
}

func passiveLeakage(f Facts) []string {
	lines := []string{
		fmt.Sprintf("A passive party learns which of the %d rows are together in each node of the %d levels above the leaves, and in the leaves that its own columns make, and rows of one node have similar labels. "+nodesRead+", correctly for %s.", f.Rows, f.Depth, labelsRevealed),
		"It learns which of its own columns split nodes, and where.",
	}
	if f.Encryption == None {
		return append(lines, "Without encryption it learns every training row's gradients. "+signsRead)
	}
	return append(lines, passiveSees)
}

// Input is a party's private input to a session: its columns, divided into bins.
type Input struct {
	Codes [][]uint8 // bin of each row, for each column
	Bins  []int     // number of bins of each column
	// Hash is the SHA-256 of the party's data, in the agreed order of rows. The bins and the
	// guest's labels are computed from these data.
	Hash [sha256.Size]byte
	// Alignment is the party's own commitment to the order of rows.
	Alignment [sha256.Size]byte
}

func (in Input) validate(p Params) error {
	switch {
	case in.Hash == [sha256.Size]byte{}:
		return errors.New("secureboost: the input's hash is missing; set it to the hash of the data from which the bins are computed")
	case in.Alignment != p.spec.Alignment:
		return fmt.Errorf("secureboost: the rows are not in the agreed order; align them again: %w", protocol.ErrInput)
	case len(in.Codes) != len(in.Bins):
		return fmt.Errorf("secureboost: the input has codes for %d columns, but states the number of bins for %d columns", len(in.Codes), len(in.Bins))
	}
	if err := checkShape(in.Bins); err != nil {
		return fmt.Errorf("secureboost: %w: %w", err, protocol.ErrInput)
	}
	for f, codes := range in.Codes {
		if len(codes) != p.spec.Rows {
			return fmt.Errorf("secureboost: column %d has %d rows; %d were agreed; align them again: %w", f, len(codes), p.spec.Rows, protocol.ErrInput)
		}
		for _, c := range codes {
			if int(c) >= in.Bins[f] {
				return fmt.Errorf("secureboost: a row has bin %d of column %d, which has only %d bins", c, f, in.Bins[f])
			}
		}
	}
	return nil
}

// checkShape returns an error if a party has too many columns or a column has too few or too
// many bins.
func checkShape(bins []int) error {
	cells := 0
	for _, b := range bins {
		if b < 1 || b > MaxBins {
			return fmt.Errorf("a column has %d bins; 1 to %d are allowed", b, MaxBins)
		}
		cells += b
	}
	if len(bins) > MaxColumns || cells > MaxCells {
		return fmt.Errorf("there are %d columns with %d bins together; at most %d columns with %d bins are allowed", len(bins), cells, MaxColumns, MaxCells)
	}
	return nil
}

// reportedSums returns the number of sums that a host reports for a node. The host reports all bins
// but the first of each column.
func reportedSums(bins []int) int {
	n := 0
	for _, b := range bins {
		n += b - 1
	}
	return n
}

// Split is a node that one of the host's columns splits. The root of a tree is node 1, and the
// children of node k are 2k and 2k+1. Rows in bins up to Bin of the column go left.
type Split struct{ Tree, Node, Column, Bin int }

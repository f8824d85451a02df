package fedcfk

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// Purposes of FedCFK's two sums. Each is part of the claim in a client's ledger, so it must not
// depend on a choice of the server.
const (
	PurposePopularity = "fedcfk/popularity"
	PurposeTriangle   = "fedcfk/triangle"
	// onceForEver is the epoch of both sums. It never changes, so a client's profile enters only
	// one sum of each kind, ever (Mercer's rule 14).
	onceForEver = "once"
)

// Devices holds the public settings of a FedCFK job (Polato, Gallinaro and Aiolli,
// "Privacy-preserving kernel computation for vertically partitioned data"). Mercer replaces the
// paper's single secure sum by two sums, and adds every list only once to each sum. The first sum
// counts how many people like each item. The second sum counts, for each pair of items that enough
// people like, how many of the people who remain after the first sum like both items.
type Devices struct {
	method.Instance
	Items int // number of items in the catalogue
}

func devicesOf(c method.Instance) Devices {
	return Devices{c, len(job.As[*Keys](c.Job.Protocol).Items)}
}

// Keys returns the protocol's settings in the job.
func (c Devices) Keys() *Keys { return job.As[*Keys](c.Job.Protocol) }

// Minimum returns the least number of clients in the first sum. It is the given number less the
// clients that can drop out, and at least 2.
func (c Devices) Minimum(clients int) int {
	return max(2, clients-sums.Share(c.Keys().Dropped, clients))
}

// Remaining returns the least number of clients in the second sum, if the given number of people
// began the first sum. The same share can drop out of each sum.
func (c Devices) Remaining(people int) int {
	return max(2, people-2*sums.Share(c.Keys().Dropped, people))
}

// minItems is the least number of items in the second sum. With fewer items, recommendations would
// be poor, and a server would learn too much about the few people who take part.
const minItems = 10

// MaxKept returns the greatest number of items in the second sum. A sum of outer products over
// fewer people than items has low rank. Its diagonal counts the likes of the people in the sum, and
// then follows from the other entries. If one person is absent from the second sum, the first sum
// minus this diagonal is that person's list. With two thirds as many items as people, the diagonal
// is undetermined (Ledermann, "On the rank of the reduced correlational matrix", 1937; Mercer's
// rule 12). Corrupted people can bring lists that do not raise the rank. So the items are also
// limited by the number of people who are not corrupted.
func (c Devices) MaxKept(people int) int {
	least := c.Remaining(people)
	honest := max(0, least-sums.Share(c.Keys().Corrupted, people))
	return min(2*least/3, 3*honest/4)
}

// minLikes returns the number of likes that an item needs to take part. The corrupted clients of a
// session can pretend to like any item. So with margin corrupted, minLikes adds the number of these
// clients to the threshold (rule 13).
func (c Devices) minLikes(people int) int64 {
	k := c.Keys()
	cut := k.Threshold
	if k.Margin == MarginCorrupted {
		cut += sums.Share(k.Corrupted, people)
	}
	return int64(cut)
}

// Cut returns the number of likes that an item needs in the first sum to enter the second. It is
// the least permitted number that keeps at most [Devices.MaxKept] items.
func (c Devices) Cut(people int, likes []int64) int64 {
	cut, most := c.minLikes(people), c.MaxKept(people)
	if len(likes) <= most {
		return cut
	}
	ascending := slices.Sorted(slices.Values(likes))
	return max(cut, ascending[len(likes)-1-most]+1)
}

// Kept returns, in ascending order, the items with at least [Devices.Cut] likes in the first sum.
// Every client recomputes the list.
func (c Devices) Kept(people int, likes []int64) []int {
	cut := c.Cut(people, likes)
	var kept []int
	for i, d := range likes {
		if d >= cut {
			kept = append(kept, i)
		}
	}
	return kept
}

// CheckCatalogue refuses a catalogue whose kernel no device can hold.
func (c Devices) CheckCatalogue() error {
	if c.Items < 1 || c.Items > MaxItems {
		return fault.BadInputf("fedcfk: the catalogue has %d items; 1 to %d are allowed", c.Items, MaxItems)
	}
	return nil
}

// checkCounts refuses counts that cannot result from a first sum over the survivors.
func (c Devices) checkCounts(survivors []string, likes []int64) error {
	if n := c.firstEntries(); len(likes) != n {
		return fmt.Errorf("the first sum counts %d items, but the catalogue has %d", len(likes)*c.Items/n, c.Items)
	}
	for i, n := range c.Popularity(likes) {
		if n < 0 || n > int64(len(survivors)) {
			return fmt.Errorf("item %d has %d likes from %d people, which is impossible", i, n, len(survivors))
		}
	}
	return c.checkSquares(c.Popularity(likes), c.Squares(likes))
}

// Spec returns the specification of a secure sum with the given numbers of clients and entries.
// Each entry is 0 or 1, or a product of two ratings.
func (c Devices) Spec(clients, entries int) secagg.Spec {
	return c.Keys().Spec(c.Minimum(clients), onceForEver, secagg.Group{Entries: entries, Bound: c.maxEntry()})
}

// pairSpec returns the specification of the second sum. It tolerates the absences that both sums
// together allow, less the clients that are already absent.
func (c Devices) pairSpec(people, clients, entries int) secagg.Spec {
	s, least := c.Spec(clients, entries), c.Remaining(people)
	s.Minimum, s.Dropped = least, max(0, float64(clients-least)/float64(clients))
	return s
}

// salt returns the bytes that bind the second sum's session to the first sum's result and to the
// kept items (rule 12 of docs/rules.md).
func salt(likes []int64, kept []int) []byte {
	var w, salt wire.Writer
	for _, d := range likes {
		w.Uint64(uint64(d))
	}
	hash := sha256.Sum256(w.Bytes())
	salt.Fixed(hash[:])
	for _, i := range kept {
		salt.Uint32(uint32(i))
	}
	return salt.Bytes()
}

// blame returns an error that blames the server for an inconsistent message.
func (c Devices) blame(format string, args ...any) error {
	return protocol.Blame(c.Coordinator, protocol.KindInconsistent, fmt.Errorf("fedcfk: "+format, args...))
}

// The first sum of a job with ratings has the number of likes of each item, followed by the sum of
// each item's squared ratings. The second sum adds up products of ratings instead of pairs. Without
// ratings every rating is 1, which is its own square.

// maxEntry returns the largest entry of a person's vector.
func (c Devices) maxEntry() int64 {
	v := int64(max(1, c.Keys().Ratings))
	return v * v
}

// firstEntries returns the number of entries in the first sum.
func (c Devices) firstEntries() int {
	if c.Keys().Ratings > 0 {
		return 2 * c.Items
	}
	return c.Items
}

// Popularity extracts the number of people who like each item from a first sum.
func (c Devices) Popularity(sum []int64) []int64 { return sum[:min(c.Items, len(sum))] }

// Squares extracts the sum of the squares of each item's ratings from a first sum.
func (c Devices) Squares(sum []int64) []int64 { return sum[len(sum)-min(c.Items, len(sum)):] }

// checkSquares refuses sums of squared ratings that the numbers of likes make impossible.
func (c Devices) checkSquares(likes, squares []int64) error {
	for i, n := range likes {
		if s := squares[i]; s < n || s > n*c.maxEntry() {
			return fmt.Errorf("%d squared ratings of item %d cannot add up to %d", n, i, s)
		}
	}
	return nil
}

// Rated returns each person's ratings of the items in the person's list, in the list's order. The
// ratings are nil in a job without ratings. It refuses ratings that are not integers from 1 to the
// greatest rating.
func (c Devices) Rated(all *dataset.Ratings, lists [][]int) ([][]int64, error) {
	rated := make([][]int64, len(lists))
	most := float64(c.Keys().Ratings)
	if most == 0 {
		return rated, nil
	}
	values := make(map[[2]int]float64, len(all.List))
	for _, x := range all.List {
		values[[2]int{x.User, x.Item}] = x.Value
	}
	for u, list := range lists {
		for _, item := range list {
			v := values[[2]int{u, item}]
			if v != math.Trunc(v) || v < 1 || v > most {
				return nil, fault.BadInputf(`fedcfk: %s: user %s rates item %s with %g; the job has "ratings: %g", so a rating must be a whole number from 1 to %[5]g`, all.Name, all.Users[u], all.Items[item], v, most)
			}
			rated[u] = append(rated[u], int64(v))
		}
	}
	return rated, nil
}

// Rated is a device's vector of the first sum in a job with ratings. It has 1 for each liked item,
// followed by the squares of the ratings.
type Rated struct {
	items int
	liked []int // indices of the liked items, ascending
	rated []int64
}

// Read implements secagg.Vector.
func (v Rated) Read(group, first int, dst []int64) {
	Likes(v.liked).Read(group, first, dst)
	for k, item := range v.liked {
		if at := v.items + item - first; at >= 0 && at < len(dst) {
			dst[at] = v.rated[k] * v.rated[k]
		}
	}
}

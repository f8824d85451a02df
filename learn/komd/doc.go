// Package komd implements CF-KOMD, the recommender of Polato and Aiolli (2017). It maximises the
// margin between the items that a user has liked and all others. The only data it needs from other
// people are a kernel between items, and every kernel here is a function of the number of people and of
// the co-counts C = X^T X: how many people liked item i, item j and both. So one secure sum of co-counts
// serves all kernels. With ratings, C holds sums of products of ratings, which serve the kernels [Linear],
// [Polynomial], [DotProduct] and [RBF].
//
// On the device of a user who liked the items P, with the mean kernel value q of every item with
// all items (including those that no user liked), the weights
//
//	a = argmin 1/2 a^T (K_PP + lambda I) a - q_P^T a,  a >= 0, sum a = 1
//
// give item i the score (K_iP a) - q_i. They depend on no other user's data except through rows P
// of the kernel and q, which are enough ([Stripe]).
//
//	k, err := komd.Spec{Name: komd.Linear}.Kernel(counts)
//	if err != nil {
//		return err
//	}
//	m := komd.New(k)
//	ranking, err := m.Rank(liked, 0.1)
package komd

// Package boost implements gradient boosting of decision trees by histograms. It trains a binary
// classifier with the logistic loss, and a regression with the squared loss.
//
// Source: Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016,
// equations 2 to 7; Cheng et al., "SecureBoost: a lossless federated learning
// framework", IEEE Intelligent Systems 2021, section 2.
//
// A column is cut into at most 256 bins of about equal counts ([Bin]). With gradients g and
// second derivatives h of the loss at the current scores, a node with the sums G and H is split
// at the bin for which
//
//	1/2 (GL^2/(HL+lambda) + GR^2/(HR+lambda) - G^2/(H+lambda)) - gamma
//
// is greatest, if it is positive. A leaf adds -rate G/(H+lambda) to the scores of its rows. Only
// the histogram of the smaller child is computed; the other child's is the difference to the
// parent's.
//
// Gradients are integers, in steps of 2^-22, so that sums are exact in any order. Therefore trees
// do not depend on who computes the sums: a [Booster] decides by histograms alone, and the
// histograms can come from other parties, which hold other columns.
//
//	columns := boost.Bin(rows, training, 32)
//	b, err := boost.New(boost.Params{Rounds: 50, Depth: 3, Rate: 0.3, Lambda: 1}, y, n)
//	err = boost.Fit(b, columns, nil)
//	scores := b.Scores() // of all n rows; rows from len(y) on were held out
package boost

// Package kmeans implements kernel k-means. It finds clusters around means in a kernel's feature
// space from kernel values only (I. Dhillon, Y. Guan, B. Kulis, Kernel k-means, spectral clustering
// and normalized cuts, KDD 2004).
//
//	gram := kernel.Of(kernel.LinearGram(x), k) // x: rows
//	m, err := kmeans.Fit(gram, kmeans.Params{Clusters: 3, Restarts: 10, Seed: 1})
//	if err != nil {
//		return err
//	}
//	fmt.Println(m.Assignment)           // the cluster of each row
//	fmt.Println(m.Predict(cross))       // cross: kernel of new rows with the rows of x
//
// With the linear kernel it is ordinary k-means. Starts are drawn by k-means++
// on the distance in feature space (D. Arthur, S. Vassilvitskii, SODA 2007).
// Clusters are numbered by their first row: 0 holds row 0.
package kmeans

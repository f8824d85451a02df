// Package bundled embeds two small real data sets in the program. Demonstrations and tests can use
// them without network or files:
//
//   - digits: Optical Recognition of Handwritten Digits, E. Alpaydin and
//     C. Kaynak, 1998, UCI Machine Learning Repository (the test part);
//   - wdbc: Breast Cancer Wisconsin (Diagnostic), W. Wolberg, O. Mangasarian,
//     N. Street and W. Street, 1995, UCI Machine Learning Repository; label 0 is
//     malignant, 1 is benign.
//
// Both are licensed under CC BY 4.0; data/ATTRIBUTION.md lists the changes.
//
//	set, err := bundled.Load("digits")
//	if err != nil {
//		return err
//	}
//	fmt.Println(set.X.Rows(), set.X.Cols()) // 1797 64
package bundled

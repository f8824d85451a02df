// Package onnx writes models as files of ONNX (onnx.ai), which other programs run without Mercer. It
// writes opset 19 and IR version 9, for onnxruntime 1.15 and later.
//
// [Encode] writes a graph of plain operations in double precision, for every kernel. Its outputs
// equal those of the model up to rounding:
//
//	label        the predicted class, "1" and "-1" of a one-class machine, or the cluster: text, rows.
//	             Absent for a regression and for principal components
//	prediction   the predicted number of a regression, without a deviation: rows x 1
//	scores       the numbers of model.Output without probabilities, rows x outputs. A single number
//	             for two classes is above 0 for the second class. Absent for a regression
//	probability  the probabilities of two classes, if the model is calibrated: rows x 2
//
// The graph of a model without a preparation has one input, X, rows x columns, whose numbers are not
// scaled yet. With a preparation it has one input for each column of the schema, rows x 1: text for
// categories and booleans, where "" is a gap, and numbers for the rest, where NaN is a gap. A date
// enters as the number that the schema makes of it. Where Mercer refuses a cell, such as a word that
// is no category, the graph returns NaN and the label "".
//
// [EncodeML] writes the operators of ai.onnx.ml for support vector machines, which some tools look
// for. They compute in single precision.
//
// A file of a model with rows reveals these rows, as the model's own file does (package model). The
// metadata of the file say so.
package onnx

// Package report writes down what a run of psb came to, for machines: one value, Report, and one file for each form it can take.
//
//	format, err := report.FormatOf("psb.sarif")
//	text, err := format.Render(&r)
//
// It is pure: what it is given is all it knows. It does not look at the host, judge, or write files, and it takes nothing that stands in a
// Report for harmless: names in it come from programs.
package report

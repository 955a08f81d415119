// Command bench measures what psb costs, beside its peers, in one run:
//
//	go run ./integration/bench -psb bin/psb
//	go run ./integration/bench -psb bin/psb -only launch,flight -rounds 31 -json out.json
//
// Every round runs each peer once, in a shuffled order, so that what the machine does meanwhile meets all of them alike; printed are
// medians and the medians of the round-by-round ratios. Absolute times hold for one machine only: quote ratios. A peer that is not
// installed is named as absent.
//
// It does not judge: no figure of it makes a test fail.
package main

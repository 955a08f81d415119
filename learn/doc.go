// Package learn turns what a traced program did into the few rules that allow it again.
//
//	set := learn.NewSet()
//	_, err := ptrace.Run(ctx, target, release, set.Add)
//	missing, report := learn.Propose(set, knowledge, policy)
//	rules := learn.Rules(missing) // ready for policy.Edit
//
// A run that was recorded (Record, with Knowledge.Facts and Knowledge.Telling) is read back into a Run, which holds the set and the knowledge:
//
//	run := learn.NewRun()
//	err := learn.Replay(file, run.Add)
//	missing, report := learn.Propose(run.Set, run.Knowledge(), policy)
//
// Each arrow of Event → Set → Grants → Rules is one function without side effects: the same events and the same
// Knowledge give the same bytes. Events of different threads may arrive in any order, as long as each thread and each
// object keeps its own.
//
// It does not trace (package learn/ptrace does), read or write files, judge an access (package policy does), or believe
// what the program says about itself: a note only words the reason behind a rule, and names environment variables.
package learn

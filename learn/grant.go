package learn

import (
	"fmt"
	"slices"
	"strings"

	"psb/policy"
)

// Grant is a proposed rule with its evidence.
type Grant struct {
	Access  policy.Access // a folder's object ends in "/"
	Text    string        // the key in the file
	Alert   string        // why the line is marked "!"; "" for one that is not
	Because string        // function or module, and library
	Seen    int           // with Of: how many of how many names of a widened folder were used; 0 = not widened
	Of      int           // 0 = not known
	Step    string        // the step of the ladder that proposed it
	Tier    policy.Tier   // how much care the rule asks for
	Risk    string        // why, in a few words; "" for one that is harmless
}

// Why is the comment behind the rule, without "# ".
func (g Grant) Why() string {
	text := g.Because
	if g.Seen > 0 {
		seen := fmt.Sprintf("%d files seen", g.Seen)
		if g.Of >= g.Seen {
			seen = fmt.Sprintf("%d of %d files seen", g.Seen, g.Of)
		}
		if text != "" {
			text += "; "
		}
		text += seen
	}
	if g.Alert == "" {
		return text
	}
	if text == "" {
		return "! " + g.Alert
	}
	return "! " + g.Alert + "; " + text
}

// Rules turns grants into rules for policy.Edit, in the order of grants. Their Origin is learning.
func Rules(grants []Grant) []policy.Rule {
	var out []policy.Rule
	for _, g := range grants {
		out = append(out, g.rule())
	}
	return out
}

func (g Grant) rule() policy.Rule {
	object := g.Access.Object
	tree := strings.HasPrefix(object, "/") && strings.HasSuffix(object, "/")
	if tree && object != "/" {
		object = strings.TrimSuffix(object, "/")
	}
	return policy.Rule{
		Op:      g.Access.Op,
		Pattern: policy.Pattern{Text: g.Text, Object: object, Tree: tree},
		Origin:  policy.Origin{From: "learned"},
		Why:     g.Why(),
	}
}

// Missing leaves out the grants that the present policy already gives: allowed judges an access of a Grant.
func Missing(grants []Grant, allowed func(policy.Access) bool) []Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return allowed(g.Access) })
}

var tableOrder = []policy.Op{policy.OpEnv, policy.OpExec, policy.OpDevice, policy.OpCreate, policy.OpWrite, policy.OpList, policy.OpRead,
	policy.OpConnect, policy.OpPrivate, policy.OpListen, policy.OpSyscall, policy.OpImport, policy.OpCall, policy.OpEval}

// compareGrants sorts by table, kind of right, then text.
func compareGrants(a, b Grant) int {
	if d := slices.Index(tableOrder, a.Access.Op) - slices.Index(tableOrder, b.Access.Op); d != 0 {
		return d
	}
	return strings.Compare(a.Text, b.Text)
}

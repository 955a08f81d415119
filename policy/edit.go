package policy

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
)

// Change is one line that Edit or Remove put in, altered or took out.
type Change struct {
	Line int    // in the resulting text; for a line taken out, where it stood before
	Rule Rule   // the rule asked for
	Old  string // the line before, without its newline; "" when it is new
	New  string // the line after; "" when it was taken out
}

// Edit adds rules to the text of a policy file and leaves every byte that it need not touch as it was: comments,
// order, blanks, line ends. The rules' Pattern.Text is what is written (see Rule.In), Why becomes the comment.
//
// A rule that the text already covers changes nothing, so Edit of Edit is Edit. A key that exists gets the right
// beside its others, and its own comment stays; private brings the connect that it speaks of where the line has none, exec the write that
// it would take away from a wider line. A
// new line stands in the sorted place in its table; a missing table is made. A false, hide or deny in the way of an added
// right, and a locked file, are errors that name the line; then, as after any error, src is returned as it is.
//
// What covers what is judged on this text alone, with macros left as they stand and includes not read: to take
// account of those, ask Decide first.
func Edit(src []byte, add []Rule) ([]byte, []Change, error) {
	e, err := newEditor(src)
	if err != nil {
		return src, nil, err
	}
	rules := append([]Rule{}, add...)
	sort.SliceStable(rules, func(i, j int) bool { return ruleLess(&rules[i], &rules[j]) })
	var errs []error
	for _, r := range rules {
		if err := e.add(r); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		e.keepWritable(rules)
		errs = e.contradictions(rules)
	}
	if len(errs) > 0 {
		return src, nil, errors.Join(errs...)
	}
	out, changes := e.render()
	if _, err := Parse("", out); err != nil {
		return src, nil, fmt.Errorf("BUG: the edited policy does not parse; please report it: %w", err)
	}
	return out, changes, nil
}

// Remove takes the rule's right out of the text: the line, or one right of a list, and with connect the private that spoke
// of it. Only a line of that very object is touched; when a wider one allows the access the error names it.
func Remove(src []byte, r Rule) ([]byte, []Change, error) {
	e, err := newEditor(src)
	if err != nil {
		return src, nil, err
	}
	if err := e.remove(r); err != nil {
		return src, nil, err
	}
	out, changes := e.render()
	return out, changes, nil
}

// ruleLess orders rules as a file shows them.
func ruleLess(a, b *Rule) bool {
	ra, _, _ := tableRank(tableOf(a.Op))
	rb, _, _ := tableRank(tableOf(b.Op))
	if ra != rb {
		return ra < rb
	}
	if la, lb := lineRank([]Op{a.Op}), lineRank([]Op{b.Op}); la != lb {
		return la < lb
	}
	return a.Pattern.Text < b.Pattern.Text
}

// editor holds the text and what has been asked so far.
type editor struct {
	src    []byte
	index  fileIndex
	nl     string
	policy *Policy // expanded with stand-ins; rules that are added join it
	lines  []*editLine
	lists  []*editList // of [python.eval]
	loose  bool        // a refusal in the way, and a lock, hinder nothing: who merges has judged them
	fresh  []string    // tables to be made even if they stay empty
}

func newEditor(src []byte) (*editor, error) {
	p, err := Parse("", src)
	if err != nil {
		return nil, fmt.Errorf("the policy must be repaired first: %w", err)
	}
	q, err := p.expand(symbols(), nil)
	if err != nil {
		return nil, fmt.Errorf("the policy must be repaired first: %w", err)
	}
	e := &editor{src: src, index: indexTOML(src), nl: "\n", policy: q}
	if i := strings.IndexByte(string(src), '\n'); i > 0 && src[i-1] == '\r' {
		e.nl = "\r\n"
	}
	byLine := map[int]*editLine{}
	for i := range e.index.entries {
		en := &e.index.entries[i]
		l := &editLine{entry: en, table: tableName(en.table), key: tableName(en.key), why: en.comment}
		e.lines = append(e.lines, l)
		byLine[en.line] = l
	}
	for i := range q.Rules {
		r := &q.Rules[i]
		if r.Op == OpEval { // an element of a list
			continue
		}
		l := byLine[r.Origin.Line]
		l.ruled, l.object, l.from, l.value = true, lineObject(r), p.Rules[i].Pattern.From, p.Rules[i].Value
		l.rights, l.deny = append(l.rights, r.Op), r.Deny
	}
	var values map[string]any
	_, _ = toml.Decode(string(src), &values) // Parse has
	e.takeLists(values)
	return e, nil
}

// symbols expands with stand-ins, so that the text can be judged without knowing any value. No path in a file can
// hold the NUL they are made of.
func symbols() expander {
	return expander{
		value:  func(p piece) string { return standIn(p.raw) },
		base:   func(Origin) (string, error) { return standIn("."), nil },
		symbol: true,
	}
}

// standIn is deep, so that ".." after it cannot climb to where absolute paths are.
func standIn(word string) string {
	return strings.Repeat("/\x00"+strings.ReplaceAll(word, "/", "\x01"), 24)
}

func symbolObject(r *Rule) string {
	if isFileOp(r.Op) && r.Pattern.Tree && r.Pattern.Object != "/" { // a variable may be named with a final slash: it is no folder
		return r.Pattern.Object + "/"
	}
	return r.Pattern.Object
}

// lineObject is the same for all keys that mean the same, "a:80,443" and "tcp://A:443,80".
func lineObject(r *Rule) string {
	object := symbolObject(r)
	if !isNetOp(r.Op) {
		return object
	}
	if n, err := parseNet(object); err == nil && n.unix == "" {
		return n.canonical()
	}
	return object
}

// decide is Decide, which judges one thing, for what a rule names: a network or wildcard as a whole, several ports one by
// one. What it cannot read, such as a macro, it refuses as Decide does.
func (e *editor) decide(op Op, object string) Verdict {
	n, err := parseNet(object)
	if op == OpEnv && hasGlob(object) {
		v := Verdict{}
		e.policy.judge(question{op: op, obj: object, glob: true}, &v)
		return v
	}
	if !isNetOp(op) || err != nil || n.single() {
		return e.policy.Decide(Access{Op: op, Object: object})
	}
	all := Verdict{Allowed: true}
	for _, part := range n.parts() {
		v := Verdict{}
		e.policy.judge(question{op: op, obj: object, net: part}, &v)
		if v.Blocker != nil {
			return v
		}
		if !v.Allowed {
			all = v
		}
		if all.Allowed {
			all.By = v.By
		}
	}
	return all
}

// check refuses a rule that could not stand in a file.
func (e *editor) check(r Rule) error {
	text := r.Pattern.Text
	if tableOf(r.Op) == "" {
		return fmt.Errorf("unknown operation %q%s", r.Op, near(string(r.Op), Ops()))
	}
	if strings.ToValidUTF8(text, "") != text {
		return fmt.Errorf("%q is not UTF-8 and cannot be ruled by name; rule its folder", text)
	}
	if from := r.Pattern.From; strings.ToValidUTF8(from, "") != from {
		return fmt.Errorf("%q: from %q is not UTF-8 and cannot be named", text, from)
	}
	if isFileOp(r.Op) {
		return checkFile(text, r.Pattern.From, []string{string(r.Op)})
	}
	if r.Op == OpEval {
		return checkEval(text, r.Deny)
	}
	if err := checkObject(r.Op, text); err != nil {
		return err
	}
	if r.Op == OpSyscall && text == "base" {
		return errors.New("base is no system call")
	}
	if r.Value != nil {
		t, err := parseTemplate(*r.Value, false)
		if err == nil {
			err = checkEnvValue(text, t)
		}
		if err != nil || strings.ToValidUTF8(*r.Value, "") != *r.Value || strings.ContainsRune(*r.Value, 0) {
			return fmt.Errorf("%s: the value cannot be written", text)
		}
	}
	return nil
}

func (e *editor) add(r Rule) error {
	if err := e.check(r); err != nil {
		return err
	}
	if r.Op == OpHide || r.Op == OpDeny {
		r.Deny = true
	}
	r.Origin = Origin{}
	if isNetOp(r.Op) {
		r.Pattern.Text = strings.TrimPrefix(r.Pattern.Text, "tcp://")
	}
	if e.policy.Locked && !r.Deny && !e.loose {
		return fmt.Errorf("line %d: the policy is locked, so %s cannot be added", e.policy.LockedAt.Line, r)
	}
	sym := r
	if err := symbols().rule(&sym); err != nil {
		return err
	}
	if n, err := parseNet(r.Pattern.Text); err == nil && isNetOp(r.Op) && n.anyFree() && r.Op != OpListen {
		return anyFreeError(r.Pattern.Text)
	}
	object := lineObject(&sym)
	switch done, err := e.said(r, object); {
	case done:
		return err
	case r.Op == OpEval:
		e.addName(r, sym)
		return nil
	}
	var own *editLine
	if lines := e.of(r.Op, object); len(lines) > 0 {
		own = lines[0]
	}
	if own == nil {
		own = &editLine{table: tableOf(r.Op), key: r.Pattern.Text, object: object, from: r.Pattern.From, ruled: true}
		e.lines = append(e.lines, own)
	} else if own.from != r.Pattern.From && !r.Deny {
		return fmt.Errorf("line %d: %s is shown from another folder there", own.lineNumber(), quoteTOML(own.key))
	} else if own.covers(r) {
		return nil
	}
	own.put(r)
	e.policy.Rules = append(e.policy.Rules, sym)
	if r.Op == OpPrivate {
		sym.Op = OpConnect
		e.policy.Rules = append(e.policy.Rules, sym)
	}
	return nil
}

// said judges what the text says already of a rule that is to be added: done where there is nothing to add.
func (e *editor) said(r Rule, object string) (done bool, err error) {
	v := e.decide(r.Op, object)
	switch {
	case r.Deny:
		done = v.Blocker != nil || v.Allowed && (r.Op == OpHide || r.Op == OpDeny)
	case v.Blocker != nil && !e.loose:
		return true, e.inTheWay(v.Blocker, r)
	default:
		done = v.Allowed && r.Pattern.From == "" && r.Value == nil
	}
	return done, nil
}

// addName adds to a list of [python.eval].
func (e *editor) addName(r, sym Rule) {
	o, _ := parseEval(r.Pattern.Text)
	e.listFor(o).put(o.name, r)
	e.policy.Rules = append(e.policy.Rules, sym)
	if _, had := e.policy.Eval[o.profile]; !had {
		e.policy.Eval[o.profile] = Eval{}
	}
}

// contradictions finds the rights that another rule of the same call takes away again: the order of a file would let
// one win without a word.
func (e *editor) contradictions(rules []Rule) []error {
	var errs []error
	for _, r := range rules {
		sym := r
		if err := symbols().rule(&sym); err != nil || r.Deny || r.Op == OpHide || r.Op == OpDeny {
			continue // add has checked the first
		}
		if v := e.decide(r.Op, lineObject(&sym)); v.Blocker != nil {
			errs = append(errs, e.inTheWay(v.Blocker, r))
		}
	}
	var raw problems
	if e.policy.rawBeside(&raw); len(raw.list) > 0 && len(rules) > 0 {
		errs = append(errs, errors.New(strings.ReplaceAll(Problem{Line: raw.list[0].Line, What: raw.list[0].What}.String(), "(line 0)", "(added with it)")))
	}
	return errs
}

func (e *editor) inTheWay(b *Rule, r Rule) error {
	says := quoteTOML(string(b.Op))
	if o, ok := parseEval(b.Pattern.Text); ok && b.Op == OpEval {
		where := fmt.Sprintf("line %d", b.Origin.Line)
		if b.Origin.Line == 0 {
			where = "a rule added with it"
		}
		return fmt.Errorf("%s: %s stands in the way of %s", where, quoteTOML("!"+o.name), printable(r.String()))
	}
	if !isFileOp(b.Op) && b.Op != OpDeny {
		says = "false"
	}
	where := fmt.Sprintf("line %d", b.Origin.Line)
	if b.Origin.Line == 0 {
		where = "a rule added with it"
	}
	return fmt.Errorf("%s: %s = %s stands in the way of %s", where, keyText(b.Op, b.Pattern.Text), says, printable(r.String()))
}

// of finds the lines whose key names the object: one, unless it is written in two ways.
func (e *editor) of(op Op, object string) []*editLine {
	var out []*editLine
	for _, l := range e.lines {
		if l.ruled && !l.removed && l.table == tableOf(op) && l.object == object {
			out = append(out, l)
		}
	}
	return out
}

func (e *editor) remove(r Rule) error {
	if err := e.check(r); err != nil {
		return err
	}
	sym := r
	if err := symbols().rule(&sym); err != nil {
		return err
	}
	object := lineObject(&sym)
	if o, ok := parseEval(object); ok && r.Op == OpEval && (e.listFor(o).take(o.name, r) || !r.Deny && e.listFor(o).take(o.name, denied(r))) {
		return nil
	}
	lines := e.of(r.Op, object)
	if len(lines) == 0 {
		v := e.decide(r.Op, object)
		if v.Allowed {
			return fmt.Errorf("no line of its own: line %d, %s, allows %s", v.By.Origin.Line, keyText(v.By.Op, v.By.Pattern.Text), printable(r.String()))
		}
		return fmt.Errorf("no line says %s", printable(r.String()))
	}
	said := false
	for _, l := range lines {
		said = l.take(r) || said
	}
	if l := lines[0]; !said {
		return fmt.Errorf("line %d: %s = %s does not say %s", l.lineNumber(), keyText(r.Op, l.key), rightsText(l.rights, l.from), r.Op)
	}
	return nil
}

// denied is the refusal in place of a right.
func denied(r Rule) Rule {
	r.Deny = true
	return r
}

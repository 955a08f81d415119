package policy

import (
	"slices"
	"strconv"
	"testing"
)

func TestEvalWordsStandOnce(t *testing.T) {
	all := EvalWords().syntax()
	slices.Sort(all)
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) || len(EvalWords().Groups) != 16 || len(EvalWords().Methods) != 8 {
		t.Errorf("%d words of syntax, %d different ones, %d groups, %d groups of methods", len(all), len(once), len(EvalWords().Groups), len(EvalWords().Methods))
	}
}

func TestEvalObjects(t *testing.T) {
	for object, want := range map[string]string{
		"call:len": "", "calc/syntax:BinOp": "", "syntax:arith": "", "attribute:str-methods": "", "attribute:is*": "", "import:os.path": "", "magic:__len__": "", "magic:__i*": "",
		"len":                 `"len": write KEY:NAME, such as call:len, or PROFILE/KEY:NAME; unknown key len, valid: syntax call attribute import magic`,
		"cal:len":             `"cal:len": write KEY:NAME, such as call:len, or PROFILE/KEY:NAME; unknown key cal, did you mean "call"?`,
		"call:":               `"call:": write KEY:NAME, such as call:len, or PROFILE/KEY:NAME`,
		"timeout/call:x":      `"timeout" cannot name a profile of [python.eval]`,
		"syntax:lambda":       `syntax: unknown word "lambda", did you mean "Lambda"?`,
		"syntax:*":            `syntax: unknown word "*", valid: arith assign async class compare comprehension conditional context exception fstring func import loop subscript tstring yield`,
		"attribute:gi_frame":  `attribute: "gi_frame" is never granted: it leads out of the evaluation`,
		"attribute:str-metod": `attribute: unknown group "str-metod", did you mean "str-methods"?`,
		"magic:__globals__":   `magic: "__globals__" is never granted: it leads out of the evaluation`,
		"magic:__del__":       `magic: "__del__" is never granted: it leads out of the evaluation`,
		"call:setattr":        `call: "setattr" is never granted: it acts on the frame that calls it, or past the rules`,
		"import:pickle.x":     `import: "pickle.x" is never granted: it undoes the guard`,
		"import:_socket":      `import: "_socket" is never granted: it undoes the guard`,
		"import:__future__":   "",
		"syntax:Pow":          `syntax: unknown word "Pow", did you mean "For"?`,
		"attribute:__class__": `attribute: "__class__" is a name of Python's own: those stand under magic`,
		"magic:len":           `magic: "len" is no name of Python's own, such as "__len__"`,
		"call:a b":            `call: "a b" cannot be a name`,
	} {
		got := ""
		if err := checkEval(object, false); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s", object, got)
		}
	}
}

func TestDecidePython(t *testing.T) {
	const text = `[python.import]
"google.protobuf" = true
"ctypes" = false
"numpy" = true
"numpy.f2py" = false
"socket" = true
[python.call]
"threads" = true
"_thread.interrupt_main" = false
"process-exec" = false
"subprocess.Popen" = true
"os.setuid" = true
[python.eval]
syntax = ["arith", "Compare", "BoolOp", "!BinOp"]
attribute = ["str-methods", "is*", "gi_*", "*s"]
call = ["get*", "!getatt*"]
import = ["*", "!re.*"]
magic = ["__*"]
[python.eval.calc]
timeout = "1s"
`
	p := mustParse(t, text)
	q, err := p.Expand(Macros{Project: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"import google.protobuf": "2", "import google.protobuf.text": "2", "import google": "", "import googlex": "",
		"import ctypes": "!3", "import ctypes.util": "!3", "import _ctypes": "!3", "import numpy.linalg": "4", "import numpy.f2py.x": "!5", "import _socket": "6",
		"call threading.Thread.start": "8", "call threads": "8", "call _thread.interrupt_main": "!9", "call os.fork": "!10", "call subprocess.Popen": "!10", "call os.setuid": "12", "call os.setgid": "",
		"eval syntax:UnaryOp": "14", "eval syntax:arith": "14", "eval syntax:BinOp": "!14", "eval syntax:compare": "14", "eval syntax:Lambda": "", "eval syntax:Constant": "13", "eval attribute:_is": "", "eval import:random": "17", "eval import:os": "", "eval import:re.x": "!17", "eval magic:__len__": "18",
		"eval attribute:upper": "15", "eval attribute:format": "", "eval attribute:is_x": "15", "eval attribute:gi_x": "15", "eval call:getter": "16", "eval call:getattr": "!16", "eval call:hasattr": "", "eval magic:__class__": "",
		"eval calc/syntax:Constant": "19", "eval calc/syntax:BinOp": "", "eval other/syntax:Constant": "",
	} {
		a, err := ParseAccess(words)
		if err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		v := q.Decide(a)
		got := ""
		switch {
		case v.Blocker != nil:
			got = "!" + lineText(v.Blocker.Origin)
		case v.Allowed:
			got = lineText(v.By.Origin)
		}
		if got != want || v.Fix.String() != words {
			t.Errorf("%s: by %q, want %q; fix %s", words, got, want, v.Fix)
		}
	}
	for _, object := range []string{"attribute:gi_frame", "magic:__globals__", "call:setattr", "import:pickle"} {
		if v := q.Decide(Access{OpEval, object}); v.Allowed {
			t.Errorf("%s is allowed by a pattern", object)
		}
	}
	raw, err := mustParse(t, "[python.call]\n\"dynamic-code\" = true\n").Expand(Macros{Project: "/p"})
	if v := raw.Decide(Access{OpEval, "calc/magic:__class__"}); err != nil || !v.Allowed || v.By.Origin.Line != 2 {
		t.Errorf("text without bounds: %+v, %v", v, err)
	}
}

func TestRawEvalBesideBounds(t *testing.T) {
	for text, want := range map[string]string{
		"[python.call]\n\"dynamic-code\" = true\n[python.eval]\n":                   `p:2: "dynamic-code" = true lets text be evaluated without bounds, and [python.eval] (line 3) bounds it: take one of the two away`,
		"[python.call]\n\"builtins.exec\" = true\n[python.eval.x]\n":                `p:2: "builtins.exec" = true lets text be evaluated without bounds, and [python.eval.x] (line 3) bounds it: take one of the two away`,
		"[python.call]\n\"*\" = true\n[python.eval]\n":                              `p:2: "*" = true lets text be evaluated without bounds, and [python.eval] (line 3) bounds it: take one of the two away, or add "dynamic-code" = false`,
		"[python.call]\n\"*\" = true\n\"dynamic-code\" = false\n[python.eval]\n":    "",
		"[python.call]\n\"dynamic-code\" = true\n":                                  "",
		"[python.call]\n\"process-exec\" = true\n[python.eval]\ncall = [\"len\"]\n": "",
	} {
		_, err := Parse("p", []byte(text))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	files := map[string]string{"/p/top": "include = [\"sub\"]\n[python.eval]\n", "/p/sub": "[python.call]\n\"dynamic-code\" = true\n"}
	_, err := Load(func(name string) ([]byte, error) { return []byte(files[name]), nil }, "/p/top", Macros{Project: "/p"})
	if want := `/p/sub:2: "dynamic-code" = true lets text be evaluated without bounds, and [python.eval] (/p/top:2) bounds it: take one of the two away`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func lineText(o Origin) string { return strconv.Itoa(o.Line) }

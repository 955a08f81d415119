package policy

import (
	"strings"
	"testing"
)

func TestExpandPaths(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"data/x", "/p/data/x"},
		{"./", "/p/"},
		{"../y", "/y"},
		{"../../../../y/", "/y/"},
		{"${project}/a", "/p/a"},
		{"~/a b", "/home/u/a b"},
		{"${cache}/m/", "/home/u/.cache/m/"},
		{"${tmp}/t", "/tmp/t"},
		{"${run}/bus", "/run/user/7/bus"},
		{"${SET}/x", "/srv/set/x"},
		{"${NONE:-d/e}", "/p/d/e"},
		{"${NONE:-~/e}", "/home/u/e"},
		{"${NONE:-${EMPTY:-${cache}/z}}/y", "/home/u/.cache/z/y"},
		{"${REL}/y", "/p/rel/x/y"},
		{"${MACRO}", "/x/${HOME}/~"},
		{"$${x}/y", "/p/${x}/y"},
		{"$$${x}", "/p/$${x}"},
		{"a$b", "/p/a$b"},
		{"./~x", "/p/~x"},
		{"x//y/./z", "/p/x/y/z"},
		{"/etc/", "/etc/"},
		{"a*b[c]?", "/p/a*b[c]?"},
		{"/", "error: \"/\": this is the whole file system (/); name the files or folders inside it that the program needs"},
		{"~/", "error: \"~/\": this is your whole home (/home/u); name the files or folders inside it that the program needs"},
		{"/home/", "error: \"/home/\": this is a folder that holds your whole home (/home); name the files or folders inside it that the program needs"},
		{"${ROOT}", "error: \"${ROOT}\": this is the whole file system (/); name the files or folders inside it that the program needs"},
		{"${UP}", "error: \"${UP}\": this is your whole home (/home/u); name the files or folders inside it that the program needs"},
		{"${NONE:-/}", "error: \"${NONE:-/}\": this is the whole file system (/); name the files or folders inside it that the program needs"},
		{"${cache}/../../", "error: \"${cache}/../../\": this is a folder that holds your whole home (/home); name the files or folders inside it that the program needs"},
		{"${EMPTY}/x", "error: \"${EMPTY}/x\": variable EMPTY is unset or empty (write ${EMPTY:-…} to give a default)"},
		{"${projct}/x", "error: \"${projct}/x\": variable projct is unset or empty, did you mean \"project\"?"},
		{"${venv}/x", "error: \"${venv}/x\": ${venv} has no value here (write ${venv:-…} to give one)"},
	} {
		p := mustParse(t, "[files]\n"+quoteTOML(c.text)+" = \"read\"\n")
		q, err := p.Expand(testMacros)
		if want, bad := strings.CutPrefix(c.want, "error: "); bad {
			if err == nil || err.Error() != "p:2: "+want {
				t.Errorf("%s:\n got %v\nwant p:2: %s", c.text, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := symbolObject(&q.Rules[0]); got != c.want {
			t.Errorf("%s is %s, want %s", c.text, got, c.want)
		}
		if p.Rules[0].Pattern.Object != "" {
			t.Error("Expand changed the policy it was given")
		}
	}
}

func TestExpandOther(t *testing.T) {
	p := mustParse(t, `learn = "l"
[sandbox]
python = "bin/python"
[env]
A = "${SET}:${NONE}:$${SET}:${MACRO}"
"*_KEY" = "${*_KEY}"
[files]
"/show/" = { from = "~/d/", right = "read" }
"~/" = "list"
[net]
"unix:${run}/bus" = "connect"
"unix:@abstract" = "connect"
"${HOST}:5432" = "connect"
`)
	q, err := p.Expand(testMacros)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range q.Rules {
		s := string(r.Op) + " " + r.Pattern.Object + r.Pattern.From
		if r.Value != nil {
			s += " = " + *r.Value
		}
		got = append(got, s)
	}
	want := "env A = /srv/set::${SET}:/x/${HOME}/~|env *_KEY|read /show/home/u/d|list /home/u|connect unix:/run/user/7/bus|connect unix:@abstract|connect db.example.com:5432"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if q.Sandbox.Python != "/p/bin/python" || q.Learn != "/p/l" {
		t.Errorf("python %q learn %q", q.Sandbox.Python, q.Learn)
	}
	for src, want := range map[string]string{
		"[net]\n\"${NONE}:1\" = \"connect\"\n":                                   `p:2: "${NONE}:1": variable NONE is unset or empty (write ${NONE:-…} to give a default)`,
		"[net]\n\"${NONE:-*}:1\" = [\"connect\", \"private\"]\n":                 `p:2: "*:1": * never leads to a private address: name the host`,
		"[net]\n\"a:${NONE:-0}\" = \"connect\"\n":                                `p:2: "a:0": port 0 means any free port, which only listen can ask for`,
		"[net]\n\"${SET}:1\" = \"connect\"\n":                                    `p:2: "/srv/set:1": /srv/set is no network`,
		"[files]\n\"/d/\" = { from = \"${ROOT}/\", right = \"read\" }\n":         `p:2: "/d/": from "${ROOT}/": this is the whole file system (/); name the files or folders inside it that the program needs`,
		"[files]\n\"${SET}/../../\" = \"list\"\n":                                `p:2: "${SET}/../../": this is the whole file system (/); name the files or folders inside it that the program needs`,
		"[files]\n\"${NONE:-x}\" = \"create\"\n":                                 `p:2: "${NONE:-x}": create speaks of a folder: end it with /`,
		"[sandbox]\npython = \"${NONE}/x\"\n":                                    `p:2: python: variable NONE is unset or empty (write ${NONE:-…} to give a default)`,
		"[files]\n\"${NONE}\" = \"read\"\n\"/\" = \"write\"\n\"a\" = \"read\"\n": "p:2: \"${NONE}\": variable NONE is unset or empty (write ${NONE:-…} to give a default)\np:3: \"/\": this is the whole file system (/); name the files or folders inside it that the program needs",
	} {
		_, err := mustParse(t, src).Expand(testMacros)
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", src, err, want)
		}
	}
	if _, err := (&Policy{}).Expand(Macros{Home: "home"}); err == nil || err.Error() != `macros: ~ is "home", no absolute clean path` {
		t.Error(err)
	}
}

// What a value brings is literal, also in a glob.
func TestHideGlob(t *testing.T) {
	m := testMacros
	m.Project = "/w[1]/a*"
	m.Cwd = m.Project
	for _, c := range []struct {
		text   string
		hidden []string
		seen   []string
	}{
		{"**/.env", []string{"/w[1]/a*/.env", "/w[1]/a*/x/y/.env", "/w[1]/a*/.env/below"}, []string{"/w1/a*/.env", "/w[1]/aXX/.env", "/w[1]/a*/.envx", "/w[1]/.env"}},
		{"*.pem", []string{"/w[1]/a*/k.pem"}, []string{"/w[1]/a*/d/k.pem", "/w[1]/a*/pem"}},
		{"k[a-c!]?/", []string{"/w[1]/a*/kb1", "/w[1]/a*/k!é/x"}, []string{"/w[1]/a*/kd1", "/w[1]/a*/kb"}},
		{"k[!a-c]", []string{"/w[1]/a*/kd", "/w[1]/a*/ké"}, []string{"/w[1]/a*/ka"}},
		{"a/**/b", []string{"/w[1]/a*/a/b", "/w[1]/a*/a/x/y/b"}, []string{"/w[1]/a*/ab"}},
		{"${STAR}/*", []string{"/w/a*b/x"}, []string{"/w/aXb/x"}},
		{`lit\*`, []string{"/w[1]/a*/lit*"}, []string{"/w[1]/a*/litx"}},
		{"plain", []string{"/w[1]/a*/plain", "/w[1]/a*/plain/x"}, []string{"/w[1]/a*/plainx"}},
	} {
		q, err := mustParse(t, "[files]\n"+quoteTOML(c.text)+" = \"hide\"\n\"/w[1]/a*/\" = \"read\"\n\"/w/\" = \"write\"\n").Expand(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range c.hidden {
			if v := q.Decide(Access{OpRead, o}); v.Allowed || v.Blocker == nil {
				t.Errorf("%s does not hide %s: %+v", c.text, o, v)
			}
		}
		for _, o := range c.seen {
			if v := q.Decide(Access{OpRead, o}); v.Blocker != nil {
				t.Errorf("%s hides %s", c.text, o)
			}
		}
	}
	q, _ := mustParse(t, "[files]\n\"d/**/.env\" = \"hide\"\n").Expand(m)
	if got := q.Rules[0].Pattern.GlobRoot(); got != "/w[1]/a*/d" {
		t.Errorf("root %s", got)
	}
}

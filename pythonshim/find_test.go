package pythonshim

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

var loader = "/lib64/ld-linux-x86-64.so.2"

// debian is a merged-/usr system with its own python3.
func debian() map[string]string {
	return map[string]string{
		"/bin": "-> usr/bin", "/lib": "-> usr/lib", "/lib64": "-> usr/lib64",
		"/etc/ld.so.conf":                                "include /etc/ld.so.conf.d/*.conf\n",
		"/etc/ld.so.conf.d/libc.conf":                    "# default\n/usr/local/lib\n",
		"/etc/ld.so.conf.d/x86_64-linux-gnu.conf":        "/lib/x86_64-linux-gnu\n/usr/lib/x86_64-linux-gnu\n",
		"/usr/lib64/ld-linux-x86-64.so.2":                "-> /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2": program("", ""),
		"/usr/lib/x86_64-linux-gnu/libc.so.6":            program(loader, ""),
		"/usr/lib/x86_64-linux-gnu/libz.so.1":            "-> libz.so.1.2",
		"/usr/lib/x86_64-linux-gnu/libz.so.1.2":          program("", "", "libc.so.6"),
		"/usr/bin/python3":                               "-> python3.11",
		"/usr/bin/python3.11":                            program(loader, "", "libz.so.1", "libc.so.6"),
		"/usr/bin/ls":                                    program(loader, "", "libc.so.6"),
		"/usr/bin/env":                                   program(loader, "", "libc.so.6"),
		"/usr/lib/python3.11/os.py":                      "", "/usr/lib/python3.11/encodings/__init__.py": "",
		"/usr/lib/python3.11/encodings/__pycache__/__init__.cpython-311.pyc": "x",
		"/usr/lib/python3.11/lib-dynload/_ssl.so":                            program("", "", "libz.so.1"),
		"/usr/lib/python3/dist-packages/six.py":                              "",
		"/usr/local/lib/python3.11/dist-packages/x.py":                       "",
		"/usr/local/lib": "dir", "/home/u": "dir", "/proj/deep": "dir",
	}
}

// prefix is an interpreter with a shared libpython below a folder of its own.
func prefix(dir, version string) map[string]string {
	return map[string]string{
		dir + "/bin/python3":                                     "-> python" + version,
		dir + "/bin/python":                                      "-> python" + version,
		dir + "/bin/python" + version:                            program(loader, "$ORIGIN/../lib", "libpython"+version+".so.1.0", "libc.so.6"),
		dir + "/bin/2to3":                                        "#!/bin/sh\n",
		dir + "/lib/libpython" + version + ".so.1.0":             program("", "", "libc.so.6"),
		dir + "/lib/libssl.so.3":                                 program("", "", "libc.so.6"),
		dir + "/lib/libunused.so.1":                              program("", "", "libc.so.6"),
		dir + "/lib/secret":                                      "x",
		dir + "/lib/python" + version + "/os.py":                 "",
		dir + "/lib/python" + version + "/encodings/__init__.py": "",
		dir + "/lib/python" + version + "/lib-dynload/_ssl.so":   program("", "$ORIGIN/../../", "libssl.so.3"),
		dir + "/lib/python" + version + "/site-packages/a.py":    "",
	}
}

func joined(parts ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, p := range parts {
		maps.Copy(out, p)
	}
	return out
}

const shimScript = "#!/usr/bin/env bash\nset -e\nexport PYENV_ROOT=\"/py\"\nexec \"/py/libexec/pyenv\" exec \"$program\" \"$@\"\n"

func pyenvTree() map[string]string {
	return joined(debian(), prefix("/py/versions/3.12.1", "3.12"), prefix("/py/versions/3.9.2", "3.9"), prefix("/py/versions/3.9.10", "3.9"),
		map[string]string{"/py/shims/python3": shimScript, "/py/shims/python3.12": shimScript, "/py/shims/python3.9": shimScript, "/py/shims/python3.7": shimScript})
}

func TestFind(t *testing.T) {
	venv := func(cfg string) map[string]string {
		return map[string]string{"/proj/.venv/pyvenv.cfg": cfg, "/proj/.venv/bin/python": "-> python3", "/proj/.venv/bin/python3": "-> /usr/bin/python3",
			"/proj/.venv/bin/python3.11": "-> python3", "/proj/.venv/bin/activate": "x", "/proj/.venv/lib/python3.11/site-packages/r.py": "", "/proj/.venv/lib64": "-> lib"}
	}
	loop := map[string]string{"/usr/bin/python3": "-> python4", "/usr/bin/python4": "-> python3"}
	chain := map[string]string{}
	for i := range 41 {
		chain["/c/python3."+strings.Repeat("1", i+1)] = "-> python3." + strings.Repeat("1", i+2)
	}
	for _, c := range []struct {
		name, ask string
		nodes     map[string]string
		env       map[string]string
		cwd       string
		want      Layout // fields left empty are not compared; Libs "none" means empty
		fails     string // the whole error, "" for none
	}{
		{name: "debian on PATH", ask: "python3", nodes: debian(), env: map[string]string{"PATH": "/nowhere:/usr/bin"},
			want: Layout{Launch: "/usr/bin/python3", Executable: "/usr/bin/python3.11", Version: "3.11", Prefix: "/usr", BasePrefix: "/usr",
				Stdlib: "/usr/lib/python3.11", Platlib: "/usr/lib/python3.11/lib-dynload", Encodings: "/usr/lib/python3.11/encodings/__init__.py",
				Pyc:    "/usr/lib/python3.11/encodings/__pycache__/__init__.cpython-311.pyc",
				Sites:  []string{"/usr/lib/python3/dist-packages", "/usr/local/lib/python3.11/dist-packages"},
				Loader: loader, Libs: []string{"none"}, SystemLibs: []string{"/usr/lib/x86_64-linux-gnu", "/usr/lib64"},
				Reads: []string{"/usr/bin/python3.11", "/usr/lib/python3.11", "/usr/lib/python3/dist-packages", "/usr/local/lib/python3.11/dist-packages"},
				Links: []Link{{"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}, {"/usr/bin/python3", "python3.11"},
					{"/usr/lib/x86_64-linux-gnu/libz.so.1", "libz.so.1.2"}, {"/usr/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"}}}},
		{name: "default PATH", ask: "python3", nodes: debian(), want: Layout{Launch: "/usr/bin/python3"}},
		{name: "through a linked folder", ask: "/bin/python3", nodes: debian(), want: Layout{Launch: "/bin/python3", Executable: "/usr/bin/python3.11", Prefix: "/usr"}},
		{name: "user site", ask: "python3", nodes: joined(debian(), map[string]string{"/home/u/.local/lib/python3.11/site-packages/x.py": ""}), env: map[string]string{"HOME": "/home/u"},
			want: Layout{Sites: []string{"/home/u/.local/lib/python3.11/site-packages", "/usr/lib/python3/dist-packages", "/usr/local/lib/python3.11/dist-packages"}}},
		{name: "own prefix", ask: "/opt/py/bin/python3", nodes: joined(debian(), prefix("/opt/py", "3.12")),
			want: Layout{Executable: "/opt/py/bin/python3.12", Version: "3.12", Prefix: "/opt/py", Stdlib: "/opt/py/lib/python3.12",
				Libs:  []string{"/opt/py/lib/libpython3.12.so.1.0", "/opt/py/lib/libssl.so.3"},
				Reads: []string{"/opt/py/bin/python3.12", "/opt/py/lib/libpython3.12.so.1.0", "/opt/py/lib/libssl.so.3", "/opt/py/lib/python3.12"}}},
		{name: "venv", ask: ".venv/bin/python", cwd: "/proj", nodes: joined(debian(), venv("home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n")),
			want: Layout{Launch: "/proj/.venv/bin/python", Executable: "/usr/bin/python3.11", Venv: "/proj/.venv", Prefix: "/proj/.venv", BasePrefix: "/usr",
				Sites: []string{"/proj/.venv/lib/python3.11/site-packages"},
				Reads: []string{"/proj/.venv/lib/python3.11/site-packages", "/proj/.venv/pyvenv.cfg", "/usr/bin/python3.11", "/usr/lib/python3.11"}}},
		{name: "activated venv", ask: "python", nodes: joined(debian(), venv("home = /usr/bin\nversion_info = 3.11.2.final.0\n")), env: map[string]string{"PATH": "/proj/.venv/bin:/usr/bin", "VIRTUAL_ENV": "/proj/.venv"},
			want: Layout{Launch: "/proj/.venv/bin/python", Venv: "/proj/.venv"}},
		{name: "venv with system packages", ask: "/proj/.venv/bin/python", nodes: joined(debian(), venv("home=/usr/bin\nInclude-System-Site-Packages = TRUE\n")),
			want: Layout{Sites: []string{"/proj/.venv/lib/python3.11/site-packages", "/usr/lib/python3/dist-packages", "/usr/local/lib/python3.11/dist-packages"}}},
		{name: "venv of copies", ask: "/proj/.venv/bin/python", nodes: joined(debian(), venv("home = /usr/bin\nversion = 3.11.2\n"), map[string]string{"/proj/.venv/bin/python": program(loader, "", "libc.so.6")}),
			want: Layout{Executable: "/proj/.venv/bin/python", Version: "3.11", BasePrefix: "/usr", Stdlib: "/usr/lib/python3.11"}},
		{name: "uv: base behind a linked folder", ask: "/proj/.venv/bin/python", nodes: joined(debian(), prefix("/uv/cpython-3.12.1", "3.12"), map[string]string{
			"/uv/cpython-3.12": "-> cpython-3.12.1", "/proj/.venv/bin/python": "-> /uv/cpython-3.12/bin/python3.12", "/proj/.venv/pyvenv.cfg": "home = /uv/cpython-3.12/bin\nuv = 0.5\nversion_info = 3.12.1\n"}),
			want: Layout{Executable: "/uv/cpython-3.12.1/bin/python3.12", BasePrefix: "/uv/cpython-3.12", Stdlib: "/uv/cpython-3.12.1/lib/python3.12", Prefix: "/proj/.venv"}},
		{name: "pyenv: PYENV_VERSION", ask: "python3", nodes: pyenvTree(), env: map[string]string{"PATH": "/py/shims:/usr/bin", "PYENV_VERSION": "3.12.1"}, want: Layout{Launch: "/py/versions/3.12.1/bin/python3", Version: "3.12"}},
		{name: "pyenv: file up the tree, prefix of a version", ask: "python3", cwd: "/proj/deep", nodes: joined(pyenvTree(), map[string]string{"/proj/.python-version": "# mine\n3.9\n"}), env: map[string]string{"PATH": "/py/shims"},
			want: Layout{Launch: "/py/versions/3.9.10/bin/python3", Version: "3.9"}},
		{name: "pyenv: global file", ask: "python3", nodes: joined(pyenvTree(), map[string]string{"/py/version": "3.9.2:3.12.1\n"}), env: map[string]string{"PATH": "/py/shims"}, want: Layout{Launch: "/py/versions/3.9.2/bin/python3"}},
		{name: "pyenv: second of the chosen", ask: "python3.12", nodes: joined(pyenvTree(), map[string]string{"/py/version": "3.9.2:3.12.1\n"}), env: map[string]string{"PATH": "/py/shims"}, want: Layout{Launch: "/py/versions/3.12.1/bin/python3.12"}},
		{name: "pyenv: version in the name", ask: "python3.9", nodes: joined(pyenvTree(), map[string]string{"/py/version": "3.12.1\n"}), env: map[string]string{"PATH": "/py/shims"}, want: Layout{Launch: "/py/versions/3.9.10/bin/python3.9"}},
		{name: "pyenv: system", ask: "python3", nodes: pyenvTree(), env: map[string]string{"PATH": "/py/shims:/usr/bin"}, want: Layout{Launch: "/usr/bin/python3"}},
		{name: "pyenv: names that climb are dropped", ask: "python3", nodes: joined(pyenvTree(), map[string]string{"/py/version": "../../usr\n/usr\n"}), env: map[string]string{"PATH": "/py/shims:/usr/bin"}, want: Layout{Launch: "/usr/bin/python3"}},

		{name: "pyenv: nothing fits", ask: "python3.7", nodes: pyenvTree(), env: map[string]string{"PATH": "/py/shims:/usr/bin", "PYENV_VERSION": "3.12.1"},
			fails: `find python "python3.7": "/py/shims/python3.7" is a pyenv shim, and PYENV_VERSION chooses 3.12.1, which has no python3.7`},
		{name: "absent", ask: "python9", nodes: debian(), fails: `find python "python9": not found on PATH: file does not exist`},
		{name: "empty", ask: "", nodes: debian(), fails: `find python: the name is empty`},
		{name: "absent path", ask: "/usr/bin/python9", nodes: debian(), fails: `find python "/usr/bin/python9": lstat "/usr/bin/python9": lstat /usr/bin/python9: file does not exist`},
		{name: "absent behind a good link", ask: "/bin/python9", nodes: debian(), fails: `find python "/bin/python9": lstat "/usr/bin/python9": lstat /usr/bin/python9: file does not exist`},
		{name: "not a python", ask: "/bin/ls", nodes: debian(), fails: `find python "/bin/ls": "/bin/ls" is not a python interpreter: it is "/usr/bin/ls"`},
		{name: "a link called python", ask: "/proj/python3", nodes: joined(debian(), map[string]string{"/proj/python3": "-> /usr/bin/ls"}), fails: `find python "/proj/python3": "/proj/python3" is not a python interpreter: it is "/usr/bin/ls"`},
		{name: "a script", ask: "/proj/python3", nodes: joined(debian(), map[string]string{"/proj/python3": "#!/bin/sh\nexec python3\n"}), fails: `find python "/proj/python3": "/proj/python3" is a script, not an interpreter`},
		{name: "broken link", ask: "python3", nodes: joined(debian(), map[string]string{"/x/python3": "-> python3.10"}), env: map[string]string{"PATH": "/x"},
			fails: `find python "python3": "/x/python3" is a link to "python3.10", which does not exist`},
		{name: "broken venv", ask: "/proj/.venv/bin/python", nodes: joined(debian(), venv("home = /usr/bin\n"), map[string]string{"/proj/.venv/bin/python3": "-> /gone/python3"}),
			fails: `find python "/proj/.venv/bin/python": "/proj/.venv/bin/python3" is a link to "/gone/python3", which does not exist`},
		{name: "loop", ask: "/usr/bin/python3", nodes: joined(debian(), loop), fails: `find python "/usr/bin/python3": resolve "/usr/bin/python3": too many levels of symbolic links`},
		{name: "41 links", ask: "/c/python3.1", nodes: joined(debian(), chain), fails: `find python "/c/python3.1": resolve "/c/python3.1": too many levels of symbolic links`},
		{name: "a folder", ask: "/usr/bin", nodes: debian(), fails: `find python "/usr/bin": "/usr/bin" is no regular file`},
		{name: "not executable", ask: "/proj/python3", nodes: joined(debian(), map[string]string{"/proj/python3": "text"}), fails: `find python "/proj/python3": "/proj/python3" is not executable`},
		{name: "home gone", ask: "/proj/.venv/bin/python", nodes: joined(debian(), venv("home = /gone/bin\n")),
			fails: `find python "/proj/.venv/bin/python": "/proj/.venv/pyvenv.cfg": home = "/gone/bin", which is no folder`},
		{name: "home relative", ask: "/proj/.venv/bin/python", nodes: joined(debian(), venv("home = ../..\n")),
			fails: `find python "/proj/.venv/bin/python": "/proj/.venv/pyvenv.cfg": home = "../.." is not an absolute path`},
		{name: "another folder posing as the standard library", ask: "/proj/bin/python3.10", nodes: joined(debian(), map[string]string{
			"/proj/bin/python3.10": program(loader, "", "libc.so.6"), "/proj/lib/python3.10": "-> /home/u", "/home/u/os.py": "", "/home/u/encodings/__init__.py": ""}),
			fails: `find python "/proj/bin/python3.10": no standard library of python3.10 (lib/python3.10/os.py, encodings) at or above "/proj/bin"`},
		{name: "missing libpython", ask: "/opt/py/bin/python3", nodes: joined(debian(), prefix("/opt/py", "3.12"), map[string]string{"/opt/py/lib/libpython3.12.so.1.0": "x"}),
			fails: `find python "/opt/py/bin/python3": libraries of "/opt/py/bin/python3.12": "libpython3.12.so.1.0": library not found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cwd == "" {
				c.cwd = "/proj"
			}
			m := machine(c.cwd, c.env, c.nodes)
			got, err := Find(c.ask, m)
			if c.fails != "" || err != nil {
				if err == nil || err.Error() != c.fails {
					t.Fatalf("error %v\nwant  %s", err, c.fails)
				}
				return
			}
			for _, f := range []struct{ name, got, want string }{
				{"Launch", got.Launch, c.want.Launch}, {"Executable", got.Executable, c.want.Executable}, {"Version", got.Version, c.want.Version},
				{"Prefix", got.Prefix, c.want.Prefix}, {"BasePrefix", got.BasePrefix, c.want.BasePrefix}, {"Venv", got.Venv, c.want.Venv},
				{"Stdlib", got.Stdlib, c.want.Stdlib}, {"Platlib", got.Platlib, c.want.Platlib}, {"Encodings", got.Encodings, c.want.Encodings},
				{"Pyc", got.Pyc, c.want.Pyc}, {"Loader", got.Loader, c.want.Loader},
			} {
				if f.want != "" && f.got != f.want {
					t.Errorf("%s = %q, want %q", f.name, f.got, f.want)
				}
			}
			for _, f := range []struct {
				name      string
				got, want []string
			}{{"Sites", got.Sites, c.want.Sites}, {"Libs", got.Libs, c.want.Libs}, {"Reads", got.Reads, c.want.Reads}, {"SystemLibs", got.SystemLibs, c.want.SystemLibs}} {
				if slices.Equal(f.want, []string{"none"}) && len(f.got) == 0 {
					continue
				}
				if f.want != nil && !slices.Equal(f.got, f.want) {
					t.Errorf("%s = %q, want %q", f.name, f.got, f.want)
				}
			}
			if c.want.Links != nil && !slices.Equal(got.Links, c.want.Links) {
				t.Errorf("Links = %q, want %q", got.Links, c.want.Links)
			}
			for _, o := range m.opens {
				if strings.HasSuffix(o, "/secret") {
					t.Errorf("opened %q", o)
				}
			}
		})
	}
}

func TestLinked(t *testing.T) {
	nodes := joined(debian(), prefix("/opt/py", "3.12"), map[string]string{
		"/proj/run": "#!/opt/py/bin/python3 -I\n", "/proj/envy": "#! /usr/bin/env -S python3 -u\n", "/proj/deep0": "#!/proj/deep1\n",
		"/proj/deep1": "#!/proj/deep0\n", "/proj/text": "echo hi\n", "/proj/broken": program(loader, "", "libgone.so.1", "libc.so.6"),
		"/proj/other": program("/lib/ld-gone.so", ""), "/proj/static": program("", ""),
	})
	libc, ld := "/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
	for _, c := range []struct {
		path  string
		files []string
		fails string
	}{
		{"/bin/ls", []string{"/usr/bin/ls", ld, libc}, ""},
		{"/proj/run", []string{"/opt/py/bin/python3.12", "/opt/py/lib/libpython3.12.so.1.0", "/proj/run", ld, libc}, ""},
		{"/proj/envy", []string{"/proj/envy", "/usr/bin/env", "/usr/bin/python3.11", ld, libc, "/usr/lib/x86_64-linux-gnu/libz.so.1.2"}, ""},
		{"/proj/text", []string{"/proj/text"}, ""},
		{"/proj/static", []string{"/proj/static"}, ""},
		{"/proj/broken", []string{"/proj/broken", ld, libc}, `linked "/proj/broken": "libgone.so.1": library not found`},
		{"/proj/other", []string{"/proj/other"}, `linked "/proj/other": "/proj/other" needs the loader "/lib/ld-gone.so", which does not exist`},
		{"/proj/deep0", []string{"/proj/deep0", "/proj/deep1"}, `linked "/proj/deep0": more than 5 interpreters in a row`},
		{"/usr/bin", nil, `linked "/usr/bin": "/usr/bin" is no regular file`},
	} {
		n, err := NewPrograms(machine("/proj", map[string]string{"PATH": "/usr/bin"}, nodes)).Needs(c.path)
		if text := errText(err); text != c.fails {
			t.Errorf("%s: error %q, want %q", c.path, text, c.fails)
		}
		if !slices.Equal(n.Files, c.files) {
			t.Errorf("%s: files %q, want %q", c.path, n.Files, c.files)
		}
	}
	n, err := NewPrograms(machine("/proj", nil, nodes)).Needs("/bin/ls")
	want := []Link{{"/bin", "usr/bin"}, {"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}, {"/usr/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"}}
	if err != nil || !slices.Equal(n.Links, want) {
		t.Errorf("links %q, %v, want %q", n.Links, err, want)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAlways(t *testing.T) {
	nodes := joined(debian(), map[string]string{
		"/etc/ssl/certs/ca.crt": "", "/etc/ssl/private/key.pem": "", "/etc/localtime": "-> /usr/share/zoneinfo/UTC", "/usr/share/zoneinfo/UTC": "",
		"/etc/python3.11/x": "", "/etc/python3/x": "", "/etc/pythonista/x": "", "/etc/pki/tls/private/k": "", "/ca/mine.pem": "", "/home/u/x": "", "/home/u/ca/a.pem": "",
	})
	for _, c := range []struct {
		env  map[string]string
		more []string
	}{
		{nil, nil},
		{map[string]string{"SSL_CERT_FILE": "/ca/mine.pem"}, []string{"/ca/mine.pem"}},
		{map[string]string{"SSL_CERT_DIR": "/home/u/ca:/gone", "HOME": "/home/u"}, []string{"/home/u/ca"}},
		{map[string]string{"SSL_CERT_DIR": "/", "HOME": "/home/u"}, nil},
		{map[string]string{"SSL_CERT_DIR": "/home/u", "HOME": "/home/u"}, nil},
		{map[string]string{"REQUESTS_CA_BUNDLE": "/etc/ssl/private/key.pem"}, nil},
		{map[string]string{"REQUESTS_CA_BUNDLE": "/etc/ssl"}, nil},
	} {
		entries, links := Always(machine("/proj", c.env, nodes))
		want := append([]string{"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/python3", "/etc/python3.11", "/etc/ssl/certs", "/usr/share/zoneinfo", "/usr/share/zoneinfo/UTC"}, c.more...)
		slices.Sort(want)
		var got []string
		for _, e := range entries {
			got = append(got, e.Path)
			if e.Why == "" {
				t.Errorf("%q without a why", e.Path)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", c.env, got, want)
		}
		if !slices.Contains(links, Link{"/etc/localtime", "/usr/share/zoneinfo/UTC"}) {
			t.Errorf("links %q lack /etc/localtime", links)
		}
	}
}

package integration

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// wheel is a package of one module, as an index has it.
func wheel(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := name + "-1.0.dist-info/"
	for _, f := range [][2]string{
		{name + ".py", "x = 1\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", name + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f[0])
		must(t, err)
		w.Write([]byte(f[1]))
	}
	must(t, z.Close())
	return b.Bytes()
}

// TestNetworkTools: programs that are not Python, or that are whole tools, are learned with the names they reach, and enforced.
func TestNetworkTools(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, name := range []string{"git", "curl"} {
			_, err := exec.LookPath(name)
			ledger.Need(t, name, err)
		}
		w.names.set("index.test", fixed("203.0.113.10"))
		w.names.set("files.test", fixed("203.0.113.11"))
		w.names.set("git.test", fixed("203.0.113.12"))
		w.names.set("secure.test", fixed("203.0.113.6"))
		demo := wheel(t, "demo")
		index, files := http.NewServeMux(), http.NewServeMux()
		index.HandleFunc("/simple/demo/", func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			fmt.Fprint(out, `<!DOCTYPE html><a href="http://files.test:8080/demo-1.0-py3-none-any.whl">demo-1.0-py3-none-any.whl</a>`)
		})
		files.HandleFunc("/demo-1.0-py3-none-any.whl", func(out http.ResponseWriter, _ *http.Request) { out.Write(demo) })
		w.web(t, "203.0.113.10:8080", index)
		w.web(t, "203.0.113.11:8080", files)
		authority := w.secureWeb(t, "203.0.113.6:443", http.HandlerFunc(pageOf), "secure.test")

		repositories := w.servantFolder(t, "repositories")
		made := exec.Command("sh", "-ec", `
			export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a
			git init -q -b main work; cd work; seq 1000 >numbers; git add numbers; git commit -q -m first; cd ..; git clone -q --bare work demo.git; rm -r work`)
		made.Dir = repositories
		if out, err := made.CombinedOutput(); err != nil {
			t.Fatalf("the repository: %v\n%s", err, out)
		}
		w.web(t, "203.0.113.12:80", gitServer(t, repositories))

		list := []outing{
			{name: "pip download", words: []string{"-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--index-url", "http://index.test:8080/simple/",
				"--trusted-host", "index.test", "--trusted-host", "files.test", "-d", "out", "demo"}, needs: []string{"pip"}, made: []string{"out/demo-1.0-py3-none-any.whl"},
				net: []string{`"index.test:8080" = "connect"`, `"files.test:8080" = "connect"`}, asked: []string{"index.test", "files.test"}},
			{name: "git clone", program: "runs.py", words: []string{"git", "clone", "-q", "http://git.test/demo.git", "copy"}, made: []string{"copy"},
				net: []string{`"git.test:80" = "connect"`}, asked: []string{"git.test"}, out: "0 "},
			{name: "curl", program: "runs.py", words: []string{"curl", "-sS", "--cacert", "ca.pem", "https://secure.test/page"}, files: map[string]string{"ca.pem": authority},
				net: []string{`"secure.test:443" = "connect"`}, asked: []string{"secure.test"}, out: "0 secure.test /page\n"},
		}
		ventures(t, w, list)
	})
}

// TestNetworkNames: inside, names with a rule are found and all others do not exist, over UDP and TCP, for the C library and for a
// program that speaks the protocol itself.
func TestNetworkNames(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		_, err := exec.LookPath("dig")
		ledger.Need(t, "dig", err)
		w.names.set("web.test", func(query, int) answer {
			return answer{addresses: addresses("203.0.113.5", "2001:db8::1"), texts: []string{"words"}, ttl: 60}
		})
		w.names.set("old.test", fixed("203.0.113.5"))
		w.names.set("unruled.test", fixed("203.0.113.5"))
		for _, who := range people() {
			t.Run(who.name, func(t *testing.T) {
				want := ""
				for _, boxed := range []bool{false, true} {
					if boxed && controlOnly() {
						return
					}
					s := trial{scene: newScene(t, who), boxed: boxed}
					_, err := s.choose(t, "system", nil)
					ledger.Need(t, "python3", err)
					s.takes(t, "names.py")
					s.net(t, "\"web.test:80\" = \"connect\"\n\"old.test:80\" = \"connect\"\n\"gone.test:80\" = \"connect\"\n", "[files]\n\"/usr/bin/dig\" = \"exec\"\n")
					w.names.forget()
					r := s.run(t, call{argv: s.words(t, "names.py", nil, "web.test", "WEB.Test.", "old.test", "gone.test", "unruled.test", "localhost")})
					if r.code != 0 {
						t.Fatalf("boxed %v: %v", boxed, r)
					}
					if !boxed {
						for _, line := range []string{"web.test +notcp A NOERROR 1\n", "old.test +tcp AAAA NOERROR 0\n", "gone.test +tcp A NXDOMAIN 0\n", "localhost found\n", "unruled.test found\n"} {
							if !strings.Contains(r.out, line) {
								t.Fatalf("control: no line %q: %v", line, r)
							}
						}
						want = lookUpsInside(r.out)
						continue
					}
					if lookUpsInside(r.out) != want {
						t.Errorf("in the box\n%s\nwant\n%s\n%v", lookUpsInside(r.out), want, r)
					}
					for line := range strings.Lines(r.out) {
						if strings.HasPrefix(line, "unruled.test ") && !strings.Contains(line, "NXDOMAIN 0") && !strings.Contains(line, "no such name") {
							t.Errorf("a name without a rule: %s", line)
						}
					}
					w.names.onlyFor(t, "web.test", "old.test", "gone.test")
				}
			})
		}
	})
}

// lookUpsInside leaves out what is others' in the box: the name without a rule, records that are no addresses, what dig is told of localhost,
// and how many families stand for a name.
func lookUpsInside(out string) string {
	var kept strings.Builder
	for line := range strings.Lines(out) {
		line = regexp.MustCompile(`NOERROR [1-9]\d*`).ReplaceAllString(line, "NOERROR some")
		if !strings.Contains(line, " TXT ") && !strings.Contains(line, " AAAA ") && !strings.HasPrefix(line, "unruled.test ") && !strings.HasPrefix(line, "localhost +") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// TestNetworkResolverFiles: psb asks the host's name servers wherever the file that names them lies, and however it says it.
func TestNetworkResolverFiles(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("web.test", fixed("203.0.113.5"))
		w.names.set("short.corp.test", fixed("203.0.113.5"))
		w.names.set("alias.test", always(answer{addresses: addresses("203.0.113.5"), alias: "real.test", ttl: 60}))
		must(t, os.WriteFile(filepath.Join(w.dir, "hosts"), []byte("127.0.0.1 localhost\n203.0.113.5 hosted.test\n"), 0o644))
		w.web(t, "203.0.113.5:8080", http.HandlerFunc(pageOf))
		for name, text := range map[string]string{
			"a stub":                  "nameserver 127.0.0.53\noptions edns0 trust-ad\nsearch .\n",
			"another loopback":        "# made by hand\nnameserver 127.0.0.99\n",
			"an address of a network": "nameserver 192.0.2.53\n",
			"a dead one first":        "nameserver 192.0.2.200\nnameserver 127.0.0.99\noptions timeout:1 attempts:1\n",
			"search domains":          "nameserver 127.0.0.53\nsearch corp.test other.test\noptions ndots:1\n",
			"an address of IPv6":      "nameserver 2001:db8::9\n",
			"the hosts file":          "nameserver 192.0.2.53\n",
			"an alias":                "nameserver 192.0.2.53\n",
		} {
			if strings.Contains(text, "::") && !hasIPv6() {
				continue
			}
			t.Run(name, func(t *testing.T) {
				w.resolves(t, text)
				host := map[string]string{"search domains": "short", "the hosts file": "hosted.test", "an alias": "alias.test"}[name]
				if host == "" {
					host = "web.test"
				}
				for _, who := range people() {
					for _, boxed := range []bool{false, true} {
						if boxed && controlOnly() {
							return
						}
						s := trial{scene: newScene(t, who), boxed: boxed}
						s.takes(t, "fetch.py")
						s.files(t, map[string]string{"ca.pem": ""})
						s.net(t, "\"web.test:8080\" = \"connect\"\n\"short:8080\" = \"connect\"\n\"short.corp.test:8080\" = \"connect\"\n\"hosted.test:8080\" = \"connect\"\n\"alias.test:8080\" = \"connect\"\n")
						s.files(t, map[string]string{"fetch.py": strings.ReplaceAll(fileText(t, "testdata/network/fetch.py"), "cafile=sys.argv[1]", "")})
						r := s.run(t, call{argv: s.words(t, "fetch.py", nil, "-", "http://"+host+":8080/page")})
						if want := "200 " + host + ":8080 /page\n\n"; r.code != 0 || r.out != want {
							t.Errorf("%s, boxed %v: %v", who.name, boxed, r)
						}
					}
				}
			})
		}
	})
}

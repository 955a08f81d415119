package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestNetworkPrograms: clients in Python that reach servers by name are learned with those names, and then go on as without psb.
func TestNetworkPrograms(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		pages := http.HandlerFunc(pageOf)
		w.names.set("web.test", fixed("203.0.113.5"))
		w.names.set("six.test", fixed("203.0.113.5", "2001:db8::1"))
		w.names.set("secure.test", fixed("203.0.113.6"))
		w.names.set("office.test", fixed("10.9.8.7"))
		w.web(t, "203.0.113.5:8080", pages)
		if hasIPv6() {
			w.web(t, "[2001:db8::1]:8080", pages)
		}
		w.web(t, "10.9.8.7:8080", pages)
		w.web(t, "127.0.0.1:8081", pages)
		authority := w.secureWeb(t, "203.0.113.6:8443", pages, "secure.test")
		w.gate(t, "tcp", "203.0.113.5:7000")
		w.gate(t, "tcp", "203.0.113.6:7000")
		w.mailbox(t, "203.0.113.7:123")
		w.mailbox(t, "203.0.113.8:123")
		w.names.set("ntp.test", fixed("203.0.113.7"))
		w.names.set("pool.test", fixed("203.0.113.8"))
		trusted := map[string]string{"ca.pem": authority}

		var fifty, threads, ten strings.Builder
		for n := range 50 {
			fmt.Fprintf(&fifty, "number %d\n", n)
		}
		for n := range 40 {
			fmt.Fprintf(&threads, "web.test:8080 /%d/2\n", n)
		}
		for n := range 10 {
			fmt.Fprintf(&ten, "(200, 'web.test:8080 /%d')\n", n)
		}
		const web, secure = `"web.test:8080" = "connect"`, `"secure.test:8443" = "connect"`
		ventures(t, w, []outing{
			{name: "urllib", program: "fetch.py", words: []string{"ca.pem", "http://web.test:8080/one", "https://secure.test:8443/two"}, files: trusted,
				net: []string{web, secure}, asked: []string{"web.test", "secure.test"}, out: "200 web.test:8080 /one\n\n200 secure.test:8443 /two\n\n"},
			{name: "requests", program: "asks.py", words: []string{"ca.pem", "http://web.test:8080/one", "https://secure.test:8443/two"}, files: trusted, needs: []string{"requests"},
				net: []string{web, secure}, asked: []string{"web.test", "secure.test"}, out: strings.Repeat("200 web.test:8080 /one\n\n200 secure.test:8443 /two\n\n", 2)},
			{name: "asyncio fifty times", program: "fifty.py", words: []string{"web.test:7000", "secure.test:7000"},
				net: []string{`"web.test:7000" = "connect"`, `"secure.test:7000" = "connect"`}, asked: []string{"web.test", "secure.test"}, out: fifty.String()},
			{name: "threads", program: "threads.py", words: []string{"web.test", "8080"}, net: []string{web}, asked: []string{"web.test"}, out: threads.String()},
			{name: "aiohttp", program: "aio.py", words: []string{"http://web.test:8080/"}, needs: []string{"aiohttp"}, net: []string{web}, asked: []string{"web.test"}, out: ten.String()},
			{name: "a name with both families", program: "fetch.py", words: []string{"ca.pem", "http://six.test:8080/"}, files: trusted,
				net: []string{`"six.test:8080" = "connect"`}, asked: []string{"six.test"}},
			{name: "a name of the own network", program: "fetch.py", words: []string{"ca.pem", "http://office.test:8080/"}, files: trusted,
				net: []string{`"office.test:8080" = ["connect", "private"]`}, asked: []string{"office.test"}},
			{name: "the host's loopback", program: "fetch.py", words: []string{"ca.pem", "http://127.0.0.1:8081/"}, files: trusted,
				net: []string{`"127.0.0.1:8081" = "connect"`}},
			{name: "localhost", program: "fetch.py", words: []string{"ca.pem", "http://localhost:8081/"}, files: trusted,
				net: []string{`"127.0.0.1:8081" = "connect"`}}, // the same, and what the program got of the box's own hosts file
			{name: "an address", program: "fetch.py", words: []string{"ca.pem", "http://203.0.113.5:8080/"}, files: trusted,
				net: []string{`"203.0.113.5:8080" = "connect"`}},
			{name: "datagrams", program: "times.py", words: []string{"ntp.test", "pool.test", "123"}, asked: []string{"ntp.test", "pool.test"},
				net: []string{`"udp://ntp.test:123" = "connect"`, `"udp://pool.test:123" = "connect"`},
				out: "sendto True\nsendmsg True\nconnected send True\nconnected sendmsg\nmessages 2\n[('sendmmsg 0', True), ('sendmmsg 1', True)]\n"},
		})
	})
}

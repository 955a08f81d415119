# psb: `make try` builds, learns the bundled example, enforces it and shows one denial; `make test` runs everything.
GO      ?= go
PREFIX  ?= /usr/local
VERSION ?= 0.1.0
TAGS     = netgo,osusergo
LDFLAGS  = -s -w -linkmode external -extldflags "-static" -X main.version=$(VERSION)
PACKAGES = gcc libc6-dev libseccomp-dev pkg-config python3

.PHONY: build try test programs bench lint install clean packages

build: packages
	@mkdir -p bin
	CGO_ENABLED=1 $(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/psb ./cmd/psb

# Build packages: installed when root on a Debian-like system, otherwise the exact line is printed.
packages:
	@missing=; for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ] && command -v apt-get >/dev/null; then \
	  if [ "$$(id -u)" = 0 ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; \
	  else echo "psb needs build packages; run: sudo apt-get install -y$$missing" >&2; exit 1; fi; \
	fi

try: build
	@sh integration/try.sh bin/psb

test: build
	$(GO) vet -tags $(TAGS) ./...
	$(GO) test -tags $(TAGS) -timeout 60m ./...

# Every row of the table of real programs, three enforced runs each.
programs: build
	PSB_ROWS=all $(GO) test -tags $(TAGS) -timeout 60m -count=1 -run 'TestPrograms' ./integration/

bench: build
	$(GO) run -tags $(TAGS) ./integration/bench -psb bin/psb

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet -tags $(TAGS) ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@latest -tags $(TAGS) ./...

bin/psb:
	$(MAKE) build

# What stands in bin is installed: the one who may install need not have Go.
install: bin/psb
	install -D -m 0755 bin/psb $(DESTDIR)$(PREFIX)/bin/psb
	for n in python-sb python3-sb ipython-sb; do ln -sf psb $(DESTDIR)$(PREFIX)/bin/$$n; done
	install -D -m 0644 docs/man/psb.1 $(DESTDIR)$(PREFIX)/share/man/man1/psb.1

clean:
	rm -rf bin

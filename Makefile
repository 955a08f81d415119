# psb: `make try` builds, learns the bundled example, enforces it and shows one denial; `make test` runs everything.
GO      ?= go
PREFIX  ?= /usr/local
VERSION ?= 0.1.0
TAGS     = netgo,osusergo
# As the binary is built, so that its packages need not be compiled once more.
TESTFLAGS = -trimpath -tags $(TAGS)
LDFLAGS  = -s -w -linkmode external -extldflags "-static" -X main.version=$(VERSION)
PACKAGES = gcc libc6-dev libseccomp-dev pkg-config python3

.PHONY: build try test programs attacks soak fuzz bench score lint install mcpb clean packages

# Before anything is built: what an ordinary user lacks is named, and make ends with 1, the answer "no" to a question (-q) that runs nothing;
# a recipe that fails would end it with 2. Root gets the packages, on a Debian-like system.
BUILDS = build try test programs attacks soak fuzz bench score $(if $(wildcard bin/psb),,install)
ifneq ($(filter $(BUILDS),$(or $(MAKECMDGOALS),build)),)
  MISSING := $(strip $(shell command -v apt-get >/dev/null || exit 0; \
    for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done))
  ifneq ($(and $(MISSING),$(filter-out 0,$(shell id -u))),)
    $(shell echo 'psb needs build packages; run: sudo apt-get install -y $(MISSING)' >&2)
    MAKEFLAGS += -q
  endif
endif

build: packages
	@mkdir -p bin
	CGO_ENABLED=1 $(GO) build -trimpath -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/psb ./cmd/psb

packages:
	@test -z '$(MISSING)' || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(MISSING) >/dev/null; }

try: build
	@sh integration/try.sh bin/psb

test: build
	@lacks=$$(for t in git strace bwrap runc systemd-analyze; do command -v $$t >/dev/null || echo $$t; done); test -z "$$lacks" || \
	  echo "no" $$lacks": the tests that need it skip; to run them: sudo apt-get install -y git strace bubblewrap runc systemd" >&2
	$(GO) vet $(TESTFLAGS) ./...
	$(GO) test $(TESTFLAGS) -parallel 4 -timeout 75m ./...

# Every row of the table of real programs, three enforced runs each.
programs: build
	PSB_ROWS=all $(GO) test -tags $(TAGS) -timeout 60m -count=1 -run 'TestPrograms' ./integration/

# Every attack in every form: with and without the shim, compiled, under each provider, as root and as an ordinary user.
attacks: build
	PSB_ROWS=all $(GO) test -tags $(TAGS) -timeout 60m -count=1 -v -run 'TestAttack' ./integration/

# psb mcp under many calls, good and bad, while its processes are killed: make soak CALLS=2000, or for a time, CALLS=8h; SEED=N for the same acts again.
CALLS ?= 10000
soak: build
	PSB_SOAK=$(CALLS) PSB_SEED=$(SEED) $(GO) test $(TESTFLAGS) -timeout 48h -count=1 -v -run 'TestMCPSoak' ./integration/

# Every fuzz target for a while, or those of one folder: make fuzz FOR=5m ONLY=mcpserver
FOR ?= 1m
ONLY ?=
fuzz: build
	@grep -rho --include='*_test.go' -H '^func Fuzz[A-Za-z]*' ./$(ONLY) | sed 's|/[^/]*:func | |' | sort | while read dir name; do \
	  $(GO) test $(TESTFLAGS) -run '^$$' -fuzz "^$$name$$" -fuzztime $(FOR) $$dir || exit 1; done

bench: build
	$(GO) run -tags $(TAGS) ./integration/bench -psb bin/psb

# How well psb learns: every program of integration/programs, learned once and measured. make score ONLY=sqlite,flask for some of them.
score: build
	$(GO) run -tags $(TAGS) ./integration/score -psb bin/psb -only '$(ONLY)'

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet -tags $(TAGS) ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@latest -tags $(TAGS) ./...

# What stands in bin is installed: the one who may install need not have Go.
install: $(if $(wildcard bin/psb),,build)
	install -D -m 0755 bin/psb $(DESTDIR)$(PREFIX)/bin/psb
	for n in python-sb python3-sb ipython-sb; do ln -sf psb $(DESTDIR)$(PREFIX)/bin/$$n; done
	install -D -m 0644 docs/man/psb.1 $(DESTDIR)$(PREFIX)/share/man/man1/psb.1

# The bundle of psb mcp that desktop clients open, and the registry's entry for it: make mcpb OWNER=name
OWNER ?= OWNER
mcpb: build
	@sh docs/mcp/pack.sh bin/psb '$(VERSION)' '$(OWNER)' bin

clean:
	rm -rf bin

# Targets for people; .ci/run runs them in CI. `make` lists them.
GO         ?= go
FUZZTIME   ?= 30s
LINEARTIME ?= 1m
LINEARSEED ?= 1
RUN        ?= .
LINT        = $(GO) tool -modfile=tools/go.mod

.PHONY: help build test race invariants lint cross fuzz linearizability bench faults e2e death

help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build the nameserver and its tools into bin/
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/...

test: ## all tests that need nothing but Go
	$(GO) test ./...

race: ## the tests under the race detector, in random order; faults too, but for those of sizes
	$(GO) test -race -shuffle=on ./...
	$(GO) build -race -o bin/race/ ./cmd/namesrv
	WAYMARK_BIN=$(CURDIR)/bin/race/namesrv $(GO) test -tags faults -short -count=1 ./faults

invariants: ## the tests with all internal checks on and given-back bytes overwritten; faults as for race
	$(GO) test -tags invariants ./...
	$(GO) build -tags invariants -o bin/invariants/ ./cmd/namesrv
	WAYMARK_BIN=$(CURDIR)/bin/invariants/namesrv $(GO) test -tags faults -short -count=1 ./faults

lint: ## format, vet, staticcheck, tidy modules, 386
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags invariants ./...
	$(GO) vet -tags e2e,death ./e2e/...
	$(GO) vet -tags faults ./faults/...
	GOARCH=386 $(GO) vet ./...
	$(LINT) staticcheck ./...
	$(LINT) staticcheck -tags e2e,death ./e2e/...
	$(LINT) staticcheck -tags faults ./faults/...
	$(GO) mod tidy -diff
	cd tools && $(GO) mod tidy -diff
	cd e2e/peers/go && $(GO) vet . && $(GO) mod tidy -diff
	cd e2e/peers/go && $(GO) vet -modfile=newest.mod . && $(GO) mod tidy -diff -modfile=newest.mod

cross: ## build for the platforms that are released
	GOOS=linux GOARCH=amd64 $(GO) build -o /dev/null ./cmd/...
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/...

fuzz: ## each fuzz target for FUZZTIME (30s)
	GO=$(GO) .ci/fuzz $(FUZZTIME)

linearizability: ## concurrent histories checked against the model for LINEARTIME (1m), from LINEARSEED (1) on
	$(GO) test ./namesrv -count=1 -timeout 0 -v -run '^TestLinearizable$$' -linear.time $(LINEARTIME) -linear.seed $(LINEARSEED)

bench: ## every benchmark once
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

faults: ## what a process of its own must survive
	$(GO) test -tags faults -count=1 ./faults/...

e2e: ## real brokers, clients and tools (RUN=regexp picks tests; E2EFLAGS=-update publishes the results)
	$(GO) test -tags e2e -count=1 -timeout 40m -parallel 4 -run '$(RUN)' -v ./e2e $(E2EFLAGS)

death: ## how long a broker's death lasts for Java clients, tables, 40 minutes (needs namespaces; WAYMARK_DEATH, WAYMARK_DEATH_ROWS pick)
	$(GO) test -tags e2e,death -count=1 -timeout 2h -run '^TestBrokersDeath$$' -v ./e2e

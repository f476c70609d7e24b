export CGO_ENABLED := 0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 60s
RUNS ?= 100000

.PHONY: build test race lint bench fuzz sample dataset interop notebooks

build: ## the binary
	go build -trimpath -o agentlens ./cmd/agentlens

test: ## all tests
	go test -timeout 15m ./...

race: ## the packages with goroutines under the race detector
	scripts/race

lint: ## format, vet, static analysis
	@test -z "$$(gofmt -l cmd datasets internal schema)" || { gofmt -l cmd datasets internal schema; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

bench: ## every benchmark; the real release is used when the shared folder is present
	go test -run '^$$' -bench . -benchmem ./...

fuzz: ## every fuzz target for FUZZTIME
	@go list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r pkg dir; do \
		grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go 2>/dev/null | sed 's/^func //' | while read -r target; do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s "$$pkg" || exit 1; \
		done || exit 1; \
	done

BENCH ?= bench-sample
interop: ## read the dataset BENCH and its exports with DuckDB, hyparquet, Arrow, pandas and Python
	scripts/interop/check $(BENCH)

sample: ## regenerate the embedded sample, then every other golden file
	go test ./datasets -update
	go test $$(grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -n1 dirname | sort -u | grep -v '^./datasets$$') -update

dataset: ## datasets/agentlens-bench/2.0.0 from the release, RELEASE=FILE where you have it
	rm -rf /tmp/agentlens-dataset datasets/agentlens-bench/2.0.0
	go run ./cmd/agentlens build "$${RELEASE:-$$(go run ./cmd/agentlens fetch agentlens-bench)}" --out /tmp/agentlens-dataset
	go run ./cmd/agentlens publish /tmp/agentlens-dataset --no-text --out datasets/agentlens-bench/2.0.0 \
		--without published,published_tasks,published_references,alignments,states.timestamp,states.raw_tool,states.stage_source
	rm -rf /tmp/agentlens-dataset

notebooks: ## execute the notebooks and compare their outputs
	scripts/notebooks

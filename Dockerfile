# trawl-api and trawl-ingest. The embedded engine is not in here: use a ClickHouse server (docker-compose.yml).

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc git libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /trawl
COPY . .
# Git takes a folder without objects for no repository; the commit's name needs none of them.
RUN mkdir -p .git/objects && cargo build --profile dist --locked --workspace --bin trawl-api --bin trawl-ingest

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/*
COPY --from=build /trawl/target/dist/trawl-api /trawl/target/dist/trawl-ingest /usr/local/bin/
COPY --from=build /trawl/LICENSE-APACHE /trawl/LICENSE-MIT /usr/share/doc/trawl/
USER 10001
EXPOSE 4000 9002
CMD ["trawl-api", "--listen", "0.0.0.0:4000"]

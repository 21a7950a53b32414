# Two images (docker-compose.yml): `trawl` has trawl-api and trawl-ingest, `engine` the embedded engine with its library.

FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc git libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /trawl
COPY . .
# Git does not recognise a repository without an objects folder; the commit's name needs no objects.
RUN mkdir -p .git/objects && cargo build --profile dist --locked --workspace --bin trawl-api --bin trawl-ingest --bin trawl-engine

# The library by its npm package, whose lock file has the checksum.
FROM node:22-bookworm-slim AS library
COPY engine/npm/lib-linux-x64-gnu /library
RUN cd /library && npm ci --ignore-scripts

FROM debian:12-slim AS engine
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/* \
    && mkdir -p /var/lib/trawl /backup && chown 10001:10001 /var/lib/trawl /backup
COPY --from=library /library/node_modules/@chdb/lib-linux-x64-gnu/libchdb.so /usr/local/lib/trawl/
COPY --from=build /trawl/target/dist/trawl-engine /usr/local/bin/
COPY --from=build /trawl/LICENSE-APACHE /trawl/LICENSE-MIT /usr/share/doc/trawl/
USER 10001:10001
VOLUME /var/lib/trawl
EXPOSE 8123
CMD ["trawl-engine", "--data-dir", "/var/lib/trawl", "--listen", "0.0.0.0:8123"]

FROM debian:12-slim AS trawl
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates curl && rm -rf /var/lib/apt/lists/* \
    && mkdir /backup && chown 10001:10001 /backup
COPY --from=build /trawl/target/dist/trawl-api /trawl/target/dist/trawl-ingest /usr/local/bin/
COPY --from=build /trawl/LICENSE-APACHE /trawl/LICENSE-MIT /usr/share/doc/trawl/
USER 10001:10001
EXPOSE 4000 9002
CMD ["trawl-api", "--listen", "0.0.0.0:4000"]

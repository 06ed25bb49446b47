# The Debian packages of packages.txt on top of a ready-made Python image; Python itself is there already.
ARG BASE
FROM ${BASE}
COPY packages.txt /tmp/packages.txt
RUN apt-get update \
    && grep -v '^python3' /tmp/packages.txt | xargs apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/* /tmp/packages.txt

#!/usr/bin/env bash
# Builds the image tidemill:<version> with the container engine that is there.
# Usage: docker/build.sh [TAG]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^project(tidemill VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
tag=${1:-tidemill:$version}
for engine in docker podman buildah; do
    command -v "$engine" >/dev/null || continue
    echo "Building $tag with $engine"
    case $engine in
    buildah) exec buildah build -t "$tag" -f docker/Dockerfile . ;;
    *) exec "$engine" build -t "$tag" -f docker/Dockerfile . ;;
    esac
done
echo "No container engine here (docker, podman, buildah): install one and run this again." >&2
exit 1

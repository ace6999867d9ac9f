#!/usr/bin/env python3
"""Extracts one file from a wheel of a package index, without downloading the rest of the wheel.

    wheel_file.py PACKAGE VERSION FILE TO

The index is that of PIP_INDEX_URL, else PyPI. A wheel is a zip archive, whose directory is at its end, so
that a server which answers requests for ranges need send only that and the file.
"""

import io
import json
import os
import platform
import sys
import urllib.parse
import urllib.request
import zipfile

TIMEOUT = 60  # seconds
BLOCK = 1 << 16  # bytes of a request


def fetch(url, **headers):
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)


class Remote(io.RawIOBase):
    """A file behind a URL, read by ranges."""

    def __init__(self, url, size):
        self.url, self.size, self.at = url, size, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = {io.SEEK_SET: 0, io.SEEK_CUR: self.at, io.SEEK_END: self.size}[whence] + offset
        return self.at

    def readinto(self, buffer):
        end = min(self.at + len(buffer), self.size)
        if self.at >= end:
            return 0
        with fetch(self.url, Range=f"bytes={self.at}-{end - 1}") as answer:
            data = answer.read()
        buffer[: len(data)] = data
        self.at += len(data)
        return len(data)


def wheel(package, version):
    """The URL of a package's wheel for this machine."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    with fetch(f"{index}/{package}/", Accept="application/vnd.pypi.simple.v1+json") as answer:
        page, files = answer.url, json.load(answer)["files"]
    start = f"{package.replace('-', '_')}-{version}-"
    for file in files:
        if file["filename"].startswith(start) and platform.machine() in file["filename"]:
            return urllib.parse.urljoin(page, file["url"])
    sys.exit(f"{index} has no {package} {version} for {platform.machine()}")


def open_wheel(url):
    with fetch(url, Range="bytes=0-0") as answer:
        if answer.status == 206:
            size = int(answer.headers["Content-Range"].rpartition("/")[2])
            return zipfile.ZipFile(io.BufferedReader(Remote(url, size), BLOCK))
        return zipfile.ZipFile(io.BytesIO(answer.read()))


def main(package, version, name, to):
    with open_wheel(wheel(package, version)) as archive:
        data = archive.read(name)
    with open(to, "wb") as file:
        file.write(data)


main(*sys.argv[1:])

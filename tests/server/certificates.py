"""Certificates for tests of TLS."""

import shutil
import subprocess
from pathlib import Path

import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


def certificate(directory: Path) -> tuple[str, str]:
    """A certificate that signs itself, and its key: two PEM files."""
    files = str(directory / "certificate.pem"), str(directory / "key.pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    subject = ["-nodes", "-subj", "/CN=localhost", "-days", "2", "-out", files[0], "-keyout", files[1]]
    subprocess.run([*command, *subject], check=True, capture_output=True, timeout=30)
    return files

"""Every scenario of the specifications, and the tests that claim them."""

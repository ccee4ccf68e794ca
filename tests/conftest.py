"""Settings for the whole suite."""

from hypothesis import settings

# Speed is measured by the bench; a slow machine must not fail a test.
settings.register_profile("sestet", deadline=None)
settings.load_profile("sestet")

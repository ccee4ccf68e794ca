"""Set-up: the models that can be chosen, the trial of one, and its way into the settings.

No printing and no terminal: a command or a page shows the choices and follows the trial.
"""

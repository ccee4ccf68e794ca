"""AgentDojo's attacks through real turns, with a model that obeys every order it reads."""

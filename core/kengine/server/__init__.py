"""An engine behind HTTP: verdicts for trainers on other machines. Needs the extra `server`; imported only when used."""

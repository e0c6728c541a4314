"""The untrusted side: zygote, keeper, sandbox, and the process that runs one candidate. Knows no answer."""

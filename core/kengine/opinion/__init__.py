"""A judge of the text: asks an endpoint of OpenAI's protocol whether a candidate genuinely implements its operator.

Off unless a plan holds `OpinionSettings` with a url. What is sent is the code without comments and prose, and facts
about its structure; what comes back counts only when it is exactly the answer that was asked for.
"""

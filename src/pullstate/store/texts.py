"""Text as a database can hold it: PostgreSQL has no NUL, and UTF-8 no lone surrogates."""

from __future__ import annotations

from dataclasses import replace

from pullstate.domain.pull_request import Base, Head, PullRequest


def storable(known: PullRequest) -> PullRequest:
    """The same pull request, its text without what cannot be stored; mostly the same object."""
    head, base = known.head, known.base
    texts = (known.title, known.author, head.branch, head.owner, base.branch, known.url)
    together = "".join(texts)
    if fits(together):
        return known
    title, author, branch, owner, base_branch, url = map(storable_text, texts)
    return replace(
        known,
        title=title,
        author=author,
        url=url,
        head=Head(branch, head.sha, owner, head.repository_url),
        base=Base(base_branch, base.sha),
    )


def fits(text: str) -> bool:
    """Whether both databases can hold a text as it is."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def storable_text(text: str) -> str:
    """NULs and lone surrogates become the replacement character; pairs of them what they mean."""
    if fits(text):
        return text
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return paired.replace("\0", "\ufffd")

"""Acts of people who talk about a pull request: reviews, threads, comments."""

from __future__ import annotations

from tests.simulators.github.conversation import IssueComment, Review, ReviewComment, Thread
from tests.simulators.github.ground import act
from tests.simulators.github.model import Account, PullRequest, Team
from tests.simulators.github.pull_request_acts import PullRequestActs

PENDING = "PENDING"


class ReviewActs(PullRequestActs):
    @act
    def review(
        self,
        pull_request: PullRequest,
        author: str,
        state: str = "COMMENTED",
        body: str = "",
        *,
        writer: bool = True,
    ) -> Review:
        """A review of the head. PENDING is a draft that only its author sees; it bumps nothing.

        `writer=False` is the opinion of somebody who cannot push, which decides nothing.
        """
        at, pending = self.now(), state == PENDING
        made = Review(
            pull_request,
            self.account(author),
            state,
            body,
            pull_request.head,
            at,
            at,
            None if pending else at,
            self.next_id(),
            writer,
            "MEMBER" if writer else "NONE",
        )
        pull_request.reviews.append(self.known(made))
        if not pending:
            self._submitted(made)
        return made

    @act
    def submit(self, review: Review, state: str = "COMMENTED", body: str | None = None) -> None:
        """Turn a pending review into one that everybody sees, with its comments."""
        review.state, review.submitted_at = state, self.now()
        review.updated_at = review.submitted_at
        review.body = review.body if body is None else body
        self._submitted(review)

    @act
    def dismiss(self, review: Review) -> None:
        review.state, review.updated_at = "DISMISSED", self.touch(review.pull_request)

    @act
    def request_review(self, pull_request: PullRequest, reviewer: str) -> None:
        """Ask a login, or a team as `organization/slug`, for a review (again)."""
        who = self.team(reviewer) if "/" in reviewer else self.account(reviewer)
        if who not in pull_request.review_requests:
            pull_request.review_requests.append(who)
        self.touch(pull_request)

    @act
    def withdraw_review_request(self, pull_request: PullRequest, reviewer: str) -> None:
        who: Account | Team = self.team(reviewer) if "/" in reviewer else self.account(reviewer)
        pull_request.review_requests.remove(who)
        self.touch(pull_request)

    @act
    def open_thread(
        self,
        pull_request: PullRequest,
        author: str,
        path: str = "src/app.py",
        line: int | None = 1,
        body: str = "Why?",
        *,
        start_line: int | None = None,
        side: str = "RIGHT",
        subject: str = "LINE",
        review: Review | None = None,
        minimized: bool = False,
    ) -> Thread:
        """A thread with its first comment, in a COMMENTED review of its own unless one is given.

        A comment on a whole file has `subject="FILE"` and no line.
        """
        line = None if subject == "FILE" else line
        made = Thread(pull_request, self.next_id(), path, line, start_line, line, start_line, side)
        made.subject_type = subject
        made.start_diff_side = side if start_line else None
        pull_request.threads.append(self.known(made))
        said = self.reply(made, author, body, review=review)
        said.is_minimized = minimized
        return made

    @act
    def reply(
        self, thread: Thread, author: str, body: str = "Because.", *, review: Review | None = None
    ) -> ReviewComment:
        at, who = self.now(), self.account(author)
        review = review or self.review(thread.pull_request, author)
        said = ReviewComment(thread, review, who, body, at, at, self.next_id())
        thread.comments.append(self.known(said))
        if review.state != PENDING:
            self.touch(thread.pull_request)
        return said

    @act
    def resolve(self, thread: Thread, by: str | None = "octocat") -> None:
        """Resolve a thread; by nobody named where a bot did it. No bump."""
        thread.is_resolved, thread.resolved_by = True, self.account(by) if by else None

    @act
    def unresolve(self, thread: Thread) -> None:
        thread.is_resolved, thread.resolved_by = False, None

    @act
    def outdate(self, thread: Thread) -> None:
        """Its lines are gone from the head: the current ones read null, the original ones stay."""
        thread.is_outdated, thread.line, thread.start_line = True, None, None

    @act
    def comment(self, pull_request: PullRequest, author: str, body: str = "Hm.") -> IssueComment:
        at = self.touch(pull_request)
        who = self.account(author)
        said = IssueComment(pull_request, who, body, at, at, self.next_id())
        pull_request.comments.append(self.known(said))
        return said

    @act
    def edit_comment(self, comment: ReviewComment | IssueComment | Review, body: str) -> None:
        """Another text; `createdAt` stays."""
        comment.body = body
        comment.updated_at = comment.last_edited_at = self.touch(_pull_request(comment))

    @act
    def minimize(
        self, comment: ReviewComment | IssueComment | Review, reason: str = "outdated"
    ) -> None:
        comment.is_minimized, comment.minimized_reason = True, reason

    @act
    def delete_comment(self, comment: ReviewComment | IssueComment) -> None:
        """Gone; a thread goes with its last comment."""
        pull_request = _pull_request(comment)
        del self.nodes[comment.id]
        if isinstance(comment, IssueComment):
            pull_request.comments.remove(comment)
        else:
            comment.thread.comments.remove(comment)
            if not comment.thread.comments:
                pull_request.threads.remove(comment.thread)
                del self.nodes[comment.thread.id]
        self.touch(pull_request)

    def _submitted(self, review: Review) -> None:
        asked = review.pull_request.review_requests
        if review.author in asked:
            asked.remove(review.author)
        self.touch(review.pull_request)


def _pull_request(said: ReviewComment | IssueComment | Review) -> PullRequest:
    return said.thread.pull_request if isinstance(said, ReviewComment) else said.pull_request

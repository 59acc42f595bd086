"""What is asked of GitHub over GraphQL for one pull request at a time: threads and facets.

Lines with a comment `# Type.field` are left out where a server lacks the field (`tailoring`).
Threads of one pull request cost 1 point, of ten 5.
"""

from __future__ import annotations

from pullstate.forges.github.documents import CONTEXT, REVIEWER

THREAD = """
fragment Thread on PullRequestReviewThread {
  id isResolved isOutdated path
  line originalLine startLine originalStartLine diffSide
  subjectType  # PullRequestReviewThread.subjectType
  resolvedBy { login }
  comments(first: 20) { ...Comments }
}
"""

COMMENT = """
fragment Comments on PullRequestReviewCommentConnection {
  pageInfo { hasNextPage endCursor }
  nodes {
    databaseId
    fullDatabaseId  # PullRequestReviewComment.fullDatabaseId
    author { login } body createdAt lastEditedAt url isMinimized minimizedReason
    state
    pullRequestReview { state }
  }
}
"""

OVERVIEW = (
    """
query Overview($id: ID!) {
  node(id: $id) { ... on PullRequest {
    state body changedFiles additions deletions
    mergeable
    mergeStateStatus  # PullRequest.mergeStateStatus
    labels(first: 100) { nodes { name } }
    reviewRequests(first: 100) { nodes { requestedReviewer { ...Reviewer } } }
    latestReviews(first: 100) { nodes { author { login } } }
  } }
}
"""
    + REVIEWER
)

COMMITS = """
query Commits($id: ID!, $before: String) {
  node(id: $id) { ... on PullRequest {
    commits(last: 100, before: $before) {
      pageInfo { hasPreviousPage startCursor }
      nodes { commit { oid messageHeadline committedDate url author { date name user { login } } } }
    }
  } }
}
"""

CONVERSATION = """
query Conversation($id: ID!, $after: String) {
  node(id: $id) { ... on PullRequest {
    comments(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes {
        databaseId
        fullDatabaseId  # IssueComment.fullDatabaseId
        author { login } body createdAt lastEditedAt url isMinimized minimizedReason
      }
    }
  } }
}
"""

REVIEWS = """
query Reviews($id: ID!, $after: String) {
  node(id: $id) { ... on PullRequest {
    reviews(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes {
        databaseId
        fullDatabaseId  # PullRequestReview.fullDatabaseId
        author { login } body createdAt lastEditedAt url isMinimized minimizedReason
        state submittedAt
      }
    }
  } }
}
"""

PIPELINES = (
    """
query Pipelines($id: ID!, $after: String) {
  node(id: $id) { ... on PullRequest {
    headRefName
    commits(last: 1) { nodes { commit {
      oid
      statusCheckRollup { contexts(first: 100) { nodes { ...Context } } }
      checkSuites(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          databaseId status conclusion createdAt url
          app { name slug }
          workflowRun { databaseId event url workflow { name } }  # CheckSuite.workflowRun
          checkRuns(first: 100) { totalCount nodes { name status conclusion detailsUrl } }
        }
      }
    } } }
  } }
}
"""
    + CONTEXT
)


def threads(pull_requests: int) -> str:
    """The review threads of several pull requests: `p0` … each with its own cursor."""
    declared = ", ".join(f"$p{n}: ID!, $c{n}: String" for n in range(pull_requests))
    asked = "".join(
        f"""
  p{n}: node(id: $p{n}) {{ ... on PullRequest {{
    reviewThreads(first: 50, after: $c{n}) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ ...Thread }}
    }}
  }} }}"""
        for n in range(pull_requests)
    )
    return f"query Threads({declared}) {{{asked}\n}}\n{THREAD}{COMMENT}"


def comments(of_threads: int) -> str:
    """More comments of several threads: `p0` … each with its own cursor."""
    declared = ", ".join(f"$p{n}: ID!, $c{n}: String" for n in range(of_threads))
    asked = "".join(
        f"""
  p{n}: node(id: $p{n}) {{ ... on PullRequestReviewThread {{
    comments(first: 100, after: $c{n}) {{ ...Comments }}
  }} }}"""
        for n in range(of_threads)
    )
    return f"query Comments({declared}) {{{asked}\n}}\n{COMMENT}"

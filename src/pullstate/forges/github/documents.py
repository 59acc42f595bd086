"""What is asked of GitHub over GraphQL. Nothing here writes.

A line that ends in a comment `# Type.field` asks for something that older GitHub Enterprise Servers
lack; `tailoring` leaves it out there.

What each costs is counted by connections: a page of 100 without nested ones is 1 point, and so are
25 pull requests with the four that FACTS nests. `counted` is the roll-up once more: a token that
may not read its contexts would otherwise lose its state too, for they cannot be null.
https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
"""

from __future__ import annotations

REVIEWER = """
fragment Reviewer on RequestedReviewer {
  __typename
  ... on User { login }
  ... on Bot { login }  # RequestedReviewer.Bot
  ... on Mannequin { login }  # RequestedReviewer.Mannequin
  ... on Team { slug }
}
"""

DETAILS = """
fragment Details on PullRequest {
  id number url title state createdAt updatedAt mergedAt closedAt
  isDraft  # PullRequest.isDraft
  author { login }
  headRefName headRefOid
  headRepositoryOwner { login }
  headRepository { url nameWithOwner owner { login } }
  baseRefName baseRefOid
  baseRef { target { oid } }
}
"""

LEAN = (
    """
fragment Lean on PullRequest {
  ...Details
  mergeable
  mergeStateStatus  # PullRequest.mergeStateStatus
  reviewDecision  # PullRequest.reviewDecision
  statusCheckRollup { state commit { oid } }  # PullRequest.statusCheckRollup
}
"""
    + DETAILS
)

FACTS = (
    """
fragment Facts on PullRequest {
  ...Details
  repository { nameWithOwner }
  mergeable
  mergeStateStatus  # PullRequest.mergeStateStatus
  reviewDecision  # PullRequest.reviewDecision
  isInMergeQueue  # PullRequest.isInMergeQueue
  mergeQueueEntry { position state }  # PullRequest.mergeQueueEntry
  baseRef {
    name
    refUpdateRule { ...Rule }  # Ref.refUpdateRule
  }
  latestOpinionatedReviews(first: 50, writersOnly: true) {  # PullRequest.latestOpinionatedReviews
    nodes { ...Opinion }  # PullRequest.latestOpinionatedReviews
  }  # PullRequest.latestOpinionatedReviews
  reviewRequests(first: 50) { nodes { requestedReviewer { ...Reviewer } } }
  commits(last: 1) { nodes { commit { ...Checked } } }
}
fragment Rule on RefUpdateRule {  # Ref.refUpdateRule
  requiredApprovingReviewCount requiredStatusCheckContexts  # Ref.refUpdateRule
  requiresCodeOwnerReviews  # Ref.refUpdateRule
  requiresConversationResolution  # Ref.refUpdateRule RefUpdateRule.requiresConversationResolution
}  # Ref.refUpdateRule
fragment Opinion on PullRequestReview {  # PullRequest.latestOpinionatedReviews
  state author { login } commit { oid }  # PullRequest.latestOpinionatedReviews
}  # PullRequest.latestOpinionatedReviews
fragment Checked on Commit {
  oid
  statusCheckRollup { state }
  counted: statusCheckRollup {  # StatusCheckRollupContextConnection.checkRunCountsByState
    contexts {  # StatusCheckRollupContextConnection.checkRunCountsByState
      checkRunCountsByState {  # StatusCheckRollupContextConnection.checkRunCountsByState
        state count  # StatusCheckRollupContextConnection.checkRunCountsByState
      }  # StatusCheckRollupContextConnection.checkRunCountsByState
      statusContextCountsByState {  # StatusCheckRollupContextConnection.checkRunCountsByState
        state count  # StatusCheckRollupContextConnection.checkRunCountsByState
      }  # StatusCheckRollupContextConnection.checkRunCountsByState
    }  # StatusCheckRollupContextConnection.checkRunCountsByState
  }  # StatusCheckRollupContextConnection.checkRunCountsByState
  checkSuites(first: 100) {
    pageInfo { hasNextPage }
    nodes {
      databaseId status conclusion
      workflowRun { event workflow { name } }  # CheckSuite.workflowRun
    }
  }
}
"""
    + REVIEWER
    + DETAILS
)

OPEN_PAGE = (
    """
query OpenPage($repository: ID!, $size: Int!, $after: String) {
  node(id: $repository) { ... on Repository {
    id nameWithOwner
    pullRequests(first: $size, after: $after, states: [OPEN],
                 orderBy: {field: CREATED_AT, direction: ASC}) {
      pageInfo { hasNextPage endCursor }
      nodes { ...Facts }
    }
  } }
}
"""
    + FACTS
)

LEAN_PAGE = (
    """
query LeanPage($repository: ID!, $size: Int!, $after: String, $direction: OrderDirection!) {
  node(id: $repository) { ... on Repository {
    id nameWithOwner
    pullRequests(first: $size, after: $after,
                 orderBy: {field: CREATED_AT, direction: $direction}) {
      pageInfo { hasNextPage endCursor }
      nodes { ...Lean }
    }
  } }
}
"""
    + LEAN
)

FROM_BRANCH = (
    """
query FromBranch($repository: ID!, $branch: String!, $size: Int!, $after: String) {
  node(id: $repository) { ... on Repository {
    id nameWithOwner
    pullRequests(first: $size, after: $after, headRefName: $branch,
                 orderBy: {field: CREATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes { ...Lean }
    }
  } }
}
"""
    + LEAN
)

READ = (
    """
query Read($ids: [ID!]!) {
  nodes(ids: $ids) { __typename ... on PullRequest { ...Facts } }
}
"""
    + FACTS
)

NUMBERED = (
    """
query Numbered($repository: ID!, $number: Int!) {
  node(id: $repository) { ... on Repository {
    id nameWithOwner
    pullRequest(number: $number) { ...Facts }
  } }
}
"""
    + FACTS
)

CONTEXT = """
fragment Context on StatusCheckRollupContext {
  __typename
  ... on CheckRun {
    name status conclusion startedAt completedAt detailsUrl
    checkSuite {
      databaseId
      app { slug }
      workflowRun { event runNumber workflow { name } }  # CheckSuite.workflowRun
    }
  }
  ... on StatusContext { context state createdAt targetUrl }
}
"""


def delta(repositories: int) -> str:
    """Lean rows of several repositories, newest change first: `r0` … each with its own cursor."""
    declared = ", ".join(f"$r{n}: ID!, $c{n}: String" for n in range(repositories))
    asked = "".join(
        f"""
  r{n}: node(id: $r{n}) {{ ... on Repository {{
    id nameWithOwner
    pullRequests(first: $size, after: $c{n},
                 orderBy: {{field: UPDATED_AT, direction: DESC}}) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{ ...Lean }}
    }}
  }} }}"""
        for n in range(repositories)
    )
    return f"query Delta($size: Int!, {declared}) {{{asked}\n}}\n{LEAN}"


def contexts(pull_requests: int) -> str:
    """The contexts on the heads of several pull requests: `p0` … each with its own cursor."""
    declared = ", ".join(f"$p{n}: ID!, $c{n}: String" for n in range(pull_requests))
    asked = "".join(
        f"""
  p{n}: node(id: $p{n}) {{ ... on PullRequest {{ commits(last: 1) {{ nodes {{ commit {{
    oid
    statusCheckRollup {{ contexts(first: 100, after: $c{n}) {{
      pageInfo {{ hasNextPage endCursor }}
      nodes {{
        ...Context
        ... on RequirableByPullRequest {{ isRequired(pullRequestId: $p{n}) }}  # CheckRun.isRequired
      }}
    }} }}
  }} }} }} }} }}"""
        for n in range(pull_requests)
    )
    return f"query Contexts({declared}) {{{asked}\n}}\n{CONTEXT}"

"""What GitLab's GraphQL is asked.

By `iids` a list is charged as a single merge request is, so fifty of them cost no more than one,
and stay within the complexity that a stranger is allowed. A line that some version or edition
does not know names what it needs in a comment at its end (see `tailoring`).
https://docs.gitlab.com/api/graphql/#limits
"""

from __future__ import annotations

# Of a finished one nothing moves any more, and what would hold up its merge is asked by nobody.
KEPT = """
  id
  iid
  title
  state
  draft # MergeRequest.draft
  createdAt
  updatedAt
  mergedAt
  closedAt # MergeRequest.closedAt
  webUrl
  author { username }
  sourceBranch
  sourceProjectId
  sourceProject { fullPath }
  targetBranch
  diffHeadSha
  diffRefs { headSha startSha baseSha }
  mergeStatus # MergeRequest.mergeStatus
  mergeStatusEnum # MergeRequest.mergeStatusEnum
  detailedMergeStatus # MergeRequest.detailedMergeStatus
  approvalsLeft # MergeRequest.approvalsLeft
  approvedBy { nodes { username } } # MergeRequest.approvedBy
  changeRequesters { nodes { username } } # MergeRequest.changeRequesters
  reviewers { # UserMergeRequestInteraction.reviewState
    nodes { # UserMergeRequestInteraction.reviewState
      username # UserMergeRequestInteraction.reviewState
      mergeRequestInteraction { reviewState } # UserMergeRequestInteraction.reviewState
    } # UserMergeRequestInteraction.reviewState
  } # UserMergeRequestInteraction.reviewState
"""

FACTS = f"""
fragment Facts on MergeRequest {{{KEPT}
  mergeabilityChecks {{ identifier status }} # MergeRequest.mergeabilityChecks
  mergeableDiscussionsState # MergeRequest.mergeableDiscussionsState
  mergeTrainCar {{ index status }} # MergeRequest.mergeTrainCar
  headPipeline {{
    id
    sha
    status
    jobs(first: 20, statuses: [FAILED], retried: false) {{ # CiJob.webPath
      nodes {{ name allowFailure webPath }} # CiJob.webPath
    }} # CiJob.webPath
  }}
}}
"""

PROJECT = """
    id
    fullPath
    onlyAllowMergeIfPipelineSucceeds # Project.onlyAllowMergeIfPipelineSucceeds
"""

MERGE_REQUESTS = f"""
query MergeRequests($path: ID!, $iids: [String!]) {{
  project(fullPath: $path) {{{PROJECT}
    mergeRequests(iids: $iids) {{ nodes {{ ...Facts }} }}
  }}
}}
{FACTS}
"""

FINISHED = f"""
query Finished($path: ID!, $iids: [String!]) {{
  project(fullPath: $path) {{{PROJECT}
    mergeRequests(iids: $iids) {{ nodes {{ {KEPT} headPipeline {{ id sha status }} }} }}
  }}
}}
"""

LOCKED_TOLD = 50
# A merge under way is `locked` for seconds, and in none of the lists of opened ones.
WITH_LOCKED = f"""
query WithLocked($path: ID!, $iids: [String!]) {{
  project(fullPath: $path) {{{PROJECT}
    mergeRequests(iids: $iids) {{ nodes {{ ...Facts }} }}
    locked: mergeRequests(state: locked, first: {LOCKED_TOLD}) {{ nodes {{ iid }} }}
  }}
}}
{FACTS}
"""

SOURCES = """
query Sources($ids: [ID!]) {
  projects(ids: $ids, first: 100) { nodes { id fullPath } } # Query.projects
}
"""

DIFF_REFS = """
query DiffRefs($path: ID!, $iids: [String!]) {
  project(fullPath: $path) {
    id
    mergeRequests(iids: $iids) { nodes { iid diffRefs { headSha startSha baseSha } } }
  }
}
"""

DIFF_STATS = """
query DiffStats($path: ID!, $iids: [String!]) {
  project(fullPath: $path) {
    id
    mergeRequests(iids: $iids) {
      nodes {
        iid
        diffStats { path additions deletions }
        diffStatsSummary { additions deletions fileCount }
      }
    }
  }
}
"""

FAILED_JOBS = """
query FailedJobs($path: ID!, $iids: [String!]) {
  project(fullPath: $path) {
    id
    mergeRequests(iids: $iids) {
      nodes {
        iid
        pipelines(first: 50) {
          nodes {
            id
            jobs(first: 50, statuses: [FAILED], retried: false) {
              nodes { name allowFailure webPath }
            }
          }
        }
      }
    }
  }
}
"""

DOCUMENTS = {
    "MERGE_REQUESTS": MERGE_REQUESTS,
    "WITH_LOCKED": WITH_LOCKED,
    "FINISHED": FINISHED,
    "SOURCES": SOURCES,
    "DIFF_REFS": DIFF_REFS,
    "DIFF_STATS": DIFF_STATS,
    "FAILED_JOBS": FAILED_JOBS,
}

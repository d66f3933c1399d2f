import { Type } from 'typebox';
import {
  batchBytesMax,
  batchCancelReasons,
  batchLinesMax,
  batchStatuses,
  lineIdMax,
  lineStatuses,
  uploadHours,
  waitReasons,
} from '../../core/batch/batch.ts';
import { callFailureCodes, executionErrorCodes } from '../../core/failure.ts';
import * as limits from '../../http/contract/contract-limits.ts';
import { endpoint } from '../../http/contract/operation.ts';
import { ListLimitProblem, problems } from '../../http/contract/problem.ts';
import {
  id,
  listOf,
  name,
  nullable,
  oneOf,
  ownId,
  page,
  pageQuery,
  query,
  reference,
  time,
} from '../../http/contract/shared.ts';
import { idempotencyHeader } from '../executions/contract/executions-contract.ts';

const tag = 'Batches';
const agentBatches = '/api/v1/agents/{agentId}/batches';
const oneBatch = `${agentBatches}/{batchId}` as const;

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const BatchCounts = Type.Object(
  {
    total: count('All lines: the sum of the others.'),
    waiting: count('Lines that have not started.'),
    processing: count('Lines whose execution runs.'),
    success: count('Lines whose execution succeeded.'),
    failed: count('Lines whose execution failed.'),
    canceled: count('Lines that were canceled, waiting or running.'),
    refused: count('Invalid lines, which never run.'),
  },
  { title: 'BatchCounts' },
);

export const Batch = Type.Object(
  {
    batchId: ownId('batch'),
    agentId: id('agent', 'The agent.'),
    status: oneOf(
      batchStatuses,
      '`completed`: every line has ended. `canceled`: no further line starts; executions that run may still end.',
    ),
    counts: BatchCounts,
    waitingFor: nullable(
      oneOf(waitReasons),
      'Why no line can start now: the agent accepts no calls, the monthly quota is used up, or a rate limit is reached. `null` otherwise.',
    ),
    canceledBecause: nullable(
      oneOf(batchCancelReasons),
      '`requested`: by a call. `key_ended`: its key was revoked or has expired. `permission_lost`: its key, or who issued it, may not execute the agent any more. `agent_deleted`: the agent was deleted. `null` otherwise.',
    ),
    promptVersionId: id('version', 'The version that was pinned at the upload. All lines use it.'),
    promptVersionLabel: Type.String({ description: 'Its label.' }),
    fileName: nullable(Type.String(), 'Name of the file, as `fileName` of the upload gave it.'),
    rerunOf: nullable(id('batch'), 'The batch whose failed lines it runs again.'),
    apiKeyId: nullable(id('key'), 'The key that uploaded it. `null`: a session.'),
    executedBy: nullable(id('user'), 'User of the session, or issuer of the key.'),
    createdAt: time('Start of the upload.'),
    completedAt: nullable(time('End of the last line. `null` while lines wait or run.')),
  },
  { title: 'Batch' },
);

const BatchAccepted = Type.Object(
  {
    batchId: id('batch', 'Identifier.'),
    statusUrl: Type.String({
      description: 'Relative URL: `/api/v1/agents/{agentId}/batches/{batchId}`.',
    }),
  },
  { title: 'BatchAccepted' },
);

const lineErrorCodes = [
  ...new Set([...executionErrorCodes, ...callFailureCodes, 'DUPLICATE_ID'] as const),
];

export const BatchResult = Type.Object(
  {
    line: Type.Integer({ minimum: 1, description: 'Number of the line in the file.' }),
    id: nullable(Type.String(), '`id` of the line. `null` if it has no valid one.'),
    status: oneOf(lineStatuses, '`refused`: the line is invalid and never ran.'),
    executionId: nullable(id('execution'), 'Its execution. `null` if it never started.'),
    outputText: nullable(
      Type.String(),
      'The output. `null` without success, and once the record or its bodies are deleted.',
    ),
    error: nullable(Type.String(), 'What is wrong. `null` otherwise.'),
    errorCode: nullable(
      oneOf(lineErrorCodes),
      'As in the record; of a refused line the code of the call, or `DUPLICATE_ID`.',
    ),
  },
  { title: 'BatchResult' },
);

export const jsonLines = ['application/jsonl', 'application/x-ndjson'] as const;

export const createBatch = endpoint({
  id: 'createBatch',
  method: 'POST',
  path: agentBatches,
  summary: 'Upload a batch',
  description: `Stores the lines of a file and responds once all are stored; then each line becomes an execution, as limits, \`maxConcurrency\` and free slots allow, behind other calls of the workspace. At most ${batchLinesMax} lines and ${batchBytesMax} bytes: a larger upload is refused as a whole. A line has at most ${limits.bodyBytesMax} bytes; an invalid one is refused alone and listed in the results. The upload itself counts for no limit of executions; each line counts for all of them and uses one AI Action. With an \`Idempotency-Key\`, an interrupted upload is sent again and skips the ids that are stored; unfinished uploads are removed after ${uploadHours} hours. At most ${limits.uploadsMax} uploads per process at once, shared between workspaces (503 beyond).`,
  tag,
  auth: 'execute',
  headers: idempotencyHeader(
    'Identifies the batch. After the 202, the same file returns it again and another file 422. Valid for 24 hours and at least until the batch ends.',
  ),
  query: query({
    fileName: Type.Optional(name('Name of the file, which lists show.', limits.fileNameMax)),
  }),
  consumes: jsonLines,
  body: Type.String({
    description: `One JSON object per line: \`{"id", "variables", user?, session?, tags?, metadata?}\`. \`id\` has 1 to ${lineIdMax} characters and is unique in the file; the other fields are as in an execute call. Blank lines are ignored.`,
    examples: [
      '{"id":"1","variables":{"topic":"tides"}}\n{"id":"2","variables":{"topic":"moons"}}\n',
    ],
  }),
  responses: { 202: BatchAccepted, ...problems(400, 403, 404, 409, 422, 503) },
  responseHeaders: ['Location', 'Idempotent-Replayed'],
});

const readable = { method: 'GET', tag, auth: 'read', ownPermission: 'execute' } as const;

export const listBatches = endpoint({
  ...readable,
  id: 'listBatches',
  path: agentBatches,
  summary: "List an agent's batches",
  description:
    'Newest first. A key with `execute` but not `read` sees the batches that it uploaded.',
  query: query(pageQuery),
  responses: {
    200: page('BatchList', 'batches', Batch),
    ...problems(404),
    429: ListLimitProblem,
  },
  responseHeaders: ['RateLimit'],
});

export const getBatch = endpoint({
  ...readable,
  id: 'getBatch',
  path: oneBatch,
  summary: 'Get a batch',
  description: 'Its status and counts, which add up at every moment.',
  unlimited: true,
  responses: { 200: Batch, ...problems(404) },
  responseHeaders: ['Retry-After'],
});

export const getBatchResults = endpoint({
  ...readable,
  id: 'getBatchResults',
  path: `${oneBatch}/results`,
  summary: 'Get the results of a batch',
  description: `JSONL in the order of the file, one for each line of the file, including those that have not ended. Streamed no faster than the client reads. At most ${limits.resultsMax} at once per process, shared between workspaces (503 beyond).`,
  query: query({
    status: Type.Optional(
      listOf(oneOf(lineStatuses), lineStatuses.length, 'Only lines with one of these statuses.'),
    ),
    workspace: Type.Optional(
      reference(
        'workspace',
        'Same as the header `Cueline-Workspace`, for links, which cannot send headers. Selects the workspace if the user belongs to several.',
      ),
    ),
  }),
  produces: ['application/jsonl'],
  responses: { 200: BatchResult, ...problems(404, 503), 429: ListLimitProblem },
  responseHeaders: ['RateLimit', 'Content-Disposition'],
});

export const rerunBatch = endpoint({
  id: 'rerunBatch',
  method: 'POST',
  path: `${oneBatch}/rerun`,
  summary: 'Run the failed lines of a batch again',
  description:
    'Creates a batch of the lines whose execution failed, with their numbers, ids, variables and labels as their records have them, on the version that the agent pins now. A line whose variables are no longer stored is refused. Returns 409 if the batch has not ended, if no line failed, if no variables are stored any more, or while an erasure of the workspace is in progress. Access to the batch as for reading it; limits, `Idempotency-Key` and permissions as for an upload.',
  tag,
  auth: 'execute',
  headers: idempotencyHeader(
    'After the 202, another call returns it again. Valid for 24 hours and at least until the new batch ends.',
  ),
  responses: { 202: BatchAccepted, ...problems(403, 404, 409, 422, 503) },
  responseHeaders: ['Location', 'Idempotent-Replayed'],
});

export const cancelBatch = endpoint({
  id: 'cancelBatch',
  method: 'POST',
  path: `${oneBatch}/cancel`,
  summary: 'Cancel a batch',
  description:
    'Cancels the lines that wait and the executions that run. Returns 409 if the batch has ended.',
  tag,
  auth: 'cancel',
  unlimited: true,
  responses: { 200: Batch, ...problems(404, 409) },
});

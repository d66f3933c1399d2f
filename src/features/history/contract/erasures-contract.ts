import { type Static, Type } from 'typebox';
import { metadataValueMax, tagMax, userMax } from '../../../core/labels.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { ListLimitProblem, problems } from '../../../http/contract/problem.ts';
import {
  body,
  id,
  nullable,
  oneOf,
  page,
  pageQuery,
  query,
  reference,
  time,
} from '../../../http/contract/shared.ts';

/** Deletes one record, or all records of one end user. */

const tag = 'Retention';

export const deleteExecution = endpoint({
  id: 'deleteExecution',
  method: 'DELETE',
  path: '/api/v1/agents/{agentId}/executions/{executionId}',
  summary: 'Delete the record of an execution',
  description:
    'Deletes permanently: the record disappears from lists and totals. The statistics keep its usage and cost. Returns 409 while it is `processing` (cancel it first) or another operation holds it.',
  tag: 'Executions',
  auth: 'manage',
  responses: { 204: null, ...problems(404, 409) },
});

export const erasureStatuses = ['processing', 'completed'] as const;

export const erasedBy = ['user', 'variable', 'metadata', 'tag'] as const;

export const Erasure = Type.Object(
  {
    erasureId: id('erasure', 'Identifier.'),
    status: oneOf(erasureStatuses, '`completed` once every record is deleted.'),
    agentId: nullable(
      id('agent'),
      'Only records of this agent are deleted. `null`: of all agents.',
    ),
    by: oneOf(erasedBy, 'What identifies the end user. Its value is not shown.'),
    variable: nullable(
      Type.String(),
      'The variable that identifies the end user, if `by` is that.',
    ),
    metadata: nullable(
      Type.String(),
      'The name in the metadata that identifies the end user, if `by` is that.',
    ),
    schedules: Type.Array(id('schedule'), {
      description:
        'Schedules of the workspace whose input contained the value at the time of the request, anywhere in it, or whose `user`, tag or metadata it was. Change them: an erasure does not.',
    }),
    deleted: Type.Integer({ minimum: 0, description: 'Number of records deleted so far.' }),
    waiting: Type.Integer({
      minimum: 0,
      description:
        "Number of the end user's executions and workflow runs that have not been deleted yet. Those in progress are deleted when they end.",
    }),
    requestedAt: time('Time of the request.'),
    requestedBy: nullable(
      id('user'),
      'User who requested it. `null` if the account no longer exists.',
    ),
    completedAt: nullable(time('Time when every record was deleted.')),
  },
  { title: 'Erasure' },
);
export type Erasure = Static<typeof Erasure>;

const input = body('ErasureInput', {
  user: Type.Optional(
    Type.String({
      maxLength: userMax,
      description:
        'The `user` of the records. Exactly one of `user`, `tag`, `metadata`, and `variable` with `value`.',
    }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: tagMax, description: 'A tag of the records.' }),
  ),
  metadata: Type.Optional(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: { type: 'string', maxLength: metadataValueMax },
      description: 'One name in the metadata of the records, with its value.',
      examples: [{ customer: 'Ada Lovelace' }],
    }),
  ),
  variable: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: limits.erasedNameMax,
      description: 'Name of the variable. Required with `value`.',
    }),
  ),
  value: Type.Optional(
    Type.String({
      maxLength: limits.erasedValueMax,
      description:
        'Value as rendered in a prompt: a string as it is, anything else as JSON. `42` matches `42` and `"42"`. Required with `variable`.',
    }),
  ),
  agentId: Type.Optional(
    nullable(reference('agent'), 'Only records of this agent. Default: all agents.'),
  ),
});

export const createErasure = endpoint({
  id: 'createErasure',
  method: 'POST',
  path: '/api/v1/erasures',
  summary: "Delete all of an end user's records",
  description:
    'Deletes every record of this `user`, with this tag, with this value in its metadata, or in which this variable has this value, regardless of age and agent, and each workflow run that the value reached, with the executions of all its steps and items. Deletes their idempotency keys as well, the ids of their lines in batches, and saved views that name the value. Executions that have not ended are deleted when they end; their events name nobody. A background job deletes from the newest record to the oldest and then discards the value. The statistics keep the counts of an erased user, tag or value of the metadata among those without it. Executions accepted later are not deleted. Records whose variables were already deleted cannot be matched and stay. At most 100 erasures run per workspace (409).',
  tag,
  auth: 'own',
  body: input,
  responses: { 202: Erasure, ...problems(404, 409) },
  responseHeaders: ['Location'],
});

export const ErasurePreview = Type.Object(
  {
    records: Type.Integer({
      minimum: 0,
      description:
        'Records that an erasure would delete now, with those of whole workflow runs and of executions that have not ended.',
    }),
    isLowerBound: Type.Boolean({
      description:
        'Whether there may be more: it looks at up to 100,000 of the newest records and workflow runs of the workspace, or of the agent. The erasure itself looks at all.',
    }),
    from: nullable(time('When the oldest was accepted. `null` without any.')),
    to: nullable(time('When the newest was accepted. `null` without any.')),
  },
  { title: 'ErasurePreview' },
);

export const previewErasure = endpoint({
  id: 'previewErasure',
  method: 'POST',
  path: '/api/v1/erasures/preview',
  summary: 'Count what an erasure would delete',
  description: 'Deletes nothing. The value is not stored.',
  tag,
  auth: 'own',
  body: input,
  responses: { 200: ErasurePreview, ...problems(404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit'],
});

export const listErasures = endpoint({
  id: 'listErasures',
  method: 'GET',
  path: '/api/v1/erasures',
  summary: 'List the erasures',
  description: 'Sorted newest first.',
  tag,
  auth: 'own',
  query: query(pageQuery),
  responses: { 200: page('ErasureList', 'erasures', Erasure) },
});

export const getErasure = endpoint({
  id: 'getErasure',
  method: 'GET',
  path: '/api/v1/erasures/{erasureId}',
  summary: 'Get the progress of an erasure',
  tag,
  auth: 'own',
  responses: { 200: Erasure, ...problems(404) },
});

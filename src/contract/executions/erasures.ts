import { type Static, Type } from 'typebox';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems } from '../problem.ts';
import { body, id, nullable, oneOf, page, pageQuery, query, reference, time } from '../shared.ts';

/** Deleting one record, or all of one end user. */

const tag = 'Retention';

export const deleteExecution = endpoint({
  id: 'deleteExecution',
  method: 'DELETE',
  path: '/api/v1/agents/{agentId}/executions/{executionId}',
  summary: 'Delete the record of an execution',
  description:
    'For good: it is no longer listed nor counted in totals. What it used and cost stays in the statistics. 409 while it is `processing`: cancel it first.',
  tag: 'Executions',
  auth: 'manage',
  answers: { 204: null, ...problems(404, 409) },
});

export const erasureStatuses = ['processing', 'completed'] as const;

export const Erasure = Type.Object(
  {
    erasureId: id('erasure', 'Identifier.'),
    status: oneOf(erasureStatuses, '`completed` once every record is gone.'),
    agentId: nullable(id('agent'), 'The agent whose records go; `null` for all agents.'),
    variable: Type.String({ description: 'The variable that names the end user.' }),
    deleted: Type.Integer({ minimum: 0, description: 'Records deleted so far.' }),
    waiting: Type.Integer({
      minimum: 0,
      description: 'Runs of the end user that have not ended yet; they go when they have.',
    }),
    requestedAt: time('When it was asked for.'),
    requestedBy: nullable(id('user'), 'Who asked; `null` where that account is gone.'),
    completedAt: nullable(time('When all was gone.')),
  },
  { title: 'Erasure' },
);
export type Erasure = Static<typeof Erasure>;

export const createErasure = endpoint({
  id: 'createErasure',
  method: 'POST',
  path: '/api/v1/erasures',
  summary: "Delete all of an end user's records",
  description:
    'Every record in which this variable has this value, whatever its age and agent, the runs that have not ended included: those are deleted once they have. Worked off in the background from the newest to the oldest. The value itself is forgotten when that is done. A record whose bodies are gone already does not tell whose it was, and stays.',
  tag,
  auth: 'owner',
  body: body('ErasureInput', {
    variable: Type.String({
      minLength: 1,
      maxLength: limits.erasedNameMax,
      description: 'The name of the variable.',
    }),
    value: Type.String({
      maxLength: limits.erasedValueMax,
      description:
        'As it stands in a prompt: a text as it is, anything else as its JSON text. `42` finds `42` and `"42"`.',
    }),
    agentId: Type.Optional(
      nullable(reference('agent'), 'Only the records of this agent; all agents unless given.'),
    ),
  }),
  answers: { 202: Erasure, ...problems(404, 409) },
  sends: ['Location'],
});

export const listErasures = endpoint({
  id: 'listErasures',
  method: 'GET',
  path: '/api/v1/erasures',
  summary: 'List the erasures',
  description: 'Newest first.',
  tag,
  auth: 'owner',
  query: query(pageQuery),
  answers: { 200: page('ErasureList', 'erasures', Erasure) },
});

export const getErasure = endpoint({
  id: 'getErasure',
  method: 'GET',
  path: '/api/v1/erasures/{erasureId}',
  summary: 'Read how far an erasure has come',
  tag,
  auth: 'owner',
  answers: { 200: Erasure, ...problems(404) },
});

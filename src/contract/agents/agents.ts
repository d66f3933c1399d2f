import { Type } from 'typebox';
import { actions, stages } from '../../core/agent/agent.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { problems, TransitionProblem, UndeclaredProblem } from '../problem.ts';
import { body, ifMatch, oneOf, page, pageQuery, query, RateLimitUsage, text } from '../shared.ts';
import { Agent, AgentInput, AgentPatch, Pin } from './agent-record.ts';

const tag = 'Agents';

export const createAgent = endpoint({
  id: 'createAgent',
  method: 'POST',
  path: '/api/v1/agents',
  summary: 'Create an agent',
  description:
    'A Draft with its API off. Without `requiredVariables` it requires every placeholder of the version that has no default and is not listed as optional. 400 where neither version nor `agentConfig` names a model.',
  tag,
  auth: 'manage',
  body: AgentInput,
  answers: { 201: Agent, ...problems(404), 409: UndeclaredProblem },
  sends: ['ETag', 'Location'],
});

export const listAgents = endpoint({
  id: 'listAgents',
  method: 'GET',
  path: '/api/v1/agents',
  summary: 'List agents',
  description: 'Newest first. Archived agents only when asked for.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query({
    ...pageQuery,
    status: Type.Optional(oneOf(stages, 'Only agents of this stage.')),
    project: Type.Optional(text(limits.projectMax, 'Only agents of this project.')),
    tag: Type.Optional(text(limits.tagMax, 'Only agents with this tag.')),
    q: Type.Optional(text(limits.searchMax, 'Part of the name or description, in any case.')),
    archived: Type.Optional(
      Type.Boolean({ default: false, description: 'The archived ones instead.' }),
    ),
  }),
  answers: { 200: page('AgentList', 'agents', Agent) },
});

export const getAgent = endpoint({
  id: 'getAgent',
  method: 'GET',
  path: '/api/v1/agents/{agentId}',
  summary: 'Read an agent',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Agent, ...problems(404) },
  sends: ['ETag'],
});

export const updateAgent = endpoint({
  id: 'updateAgent',
  method: 'PATCH',
  path: '/api/v1/agents/{agentId}',
  summary: 'Change an agent',
  description:
    'Any setting, also while it is deployed. `promptVersionId` pins another version: identifier and keys stay. Refused with 409 where the agent does not declare all of its placeholders.',
  tag,
  auth: 'manage',
  headers: ifMatch,
  body: AgentPatch,
  answers: { 200: Agent, ...problems(404, 412), 409: UndeclaredProblem },
  sends: ['ETag'],
});

export const deleteAgent = endpoint({
  id: 'deleteAgent',
  method: 'DELETE',
  path: '/api/v1/agents/{agentId}',
  summary: 'Delete an agent',
  description:
    'Only in Testing or Paused. Its keys stop for it at once; its executions stay until retention takes them.',
  tag,
  auth: 'manage',
  answers: { 204: null, ...problems(404), 409: TransitionProblem },
});

export const changeAgentStage = endpoint({
  id: 'changeAgentStage',
  method: 'POST',
  path: '/api/v1/agents/{agentId}/lifecycle',
  summary: 'Move an agent through its lifecycle',
  description:
    '`enable-api` Draft → Testing, `deploy` Testing → Deployed, `rollback` Deployed → Testing, `disable` Deployed → Paused, `re-enable` Paused → Deployed. `archive` is a flag beside the stage, from Draft, Testing or Paused; `restore` takes it off.',
  tag,
  auth: 'manage',
  body: body('LifecycleRequest', { action: oneOf(actions) }),
  answers: { 200: Agent, ...problems(404), 409: TransitionProblem },
  sends: ['ETag'],
});

export const getAgentLimits = endpoint({
  id: 'getAgentLimits',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/limits',
  summary: "Read how much of an agent's limits is used",
  description:
    "Where the agent is in Testing, the lower of its own and the stage's limit, window by window. What its keys have used stands in `GET /api/v1/keys`.",
  tag,
  auth: 'manage',
  session: 'read',
  answers: {
    200: Type.Object({ rateLimitUsage: RateLimitUsage }, { title: 'AgentLimits' }),
    ...problems(404),
  },
});

export const listPins = endpoint({
  id: 'listPins',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/pins',
  summary: 'List the versions an agent has had',
  description: 'Newest first; the first is in force. Pinning an earlier one again is a rollback.',
  tag,
  auth: 'manage',
  session: 'read',
  query: query(pageQuery),
  answers: { 200: page('PinList', 'pins', Pin), ...problems(404) },
});

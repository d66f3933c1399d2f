import { Type } from 'typebox';
import { actions, agentSorts, stages } from '../../../core/agent/agent.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { endDate, startDate } from '../../../http/contract/period.ts';
import { problems, TransitionProblem, UndeclaredProblem } from '../../../http/contract/problem.ts';
import {
  body,
  id,
  ifMatch,
  oneOf,
  page,
  pageQuery,
  query,
  RateLimitUsage,
  reference,
  text,
  time,
} from '../../../http/contract/shared.ts';
import { Agent, AgentInput, AgentPatch, AgentPin, Pin } from './agent-record.ts';

const tag = 'Agents';
const readable = { method: 'GET', tag, auth: 'manage', session: 'read' } as const;
const managed = { tag, auth: 'manage' } as const;

export const createAgent = endpoint({
  ...managed,
  id: 'createAgent',
  method: 'POST',
  path: '/api/v1/agents',
  summary: 'Create an agent',
  description:
    'The agent starts as a Draft with its API off. If `requiredVariables` is omitted, the agent requires every placeholder of the version that has no default and is not optional. Returns 400 if neither the version nor `agentConfig` sets a model.',
  body: AgentInput,
  responses: { 201: Agent, ...problems(404), 409: UndeclaredProblem },
  responseHeaders: ['ETag', 'Location'],
});

export const listAgents = endpoint({
  ...readable,
  id: 'listAgents',
  path: '/api/v1/agents',
  summary: 'List agents',
  description: 'Newest first unless sorted. Archived agents are listed only with `archived=true`.',
  query: query({
    ...pageQuery,
    status: Type.Optional(oneOf(stages, 'Only agents in this stage.')),
    project: Type.Optional(text(limits.projectMax, 'Only agents in this project.')),
    tag: Type.Optional(text(limits.tagMax, 'Only agents with this tag.')),
    promptId: Type.Optional(reference('prompt', 'Only agents of this prompt.')),
    promptVersionId: Type.Optional(
      reference('version', 'Only agents that have this version pinned.'),
    ),
    model: Type.Optional(
      text(
        limits.modelMax,
        'Only agents that call this model first: their own, or their version’s.',
      ),
    ),
    q: Type.Optional(
      text(limits.searchMax, 'Substring of the name or description. Case-insensitive.'),
    ),
    sort: Type.Optional(
      oneOf(
        agentSorts,
        'Order; `-` is descending. Default: `-createdAt`, newest first. `executions`, `failures` and `costUSD` are the sums of the last 24 hours: of the current hour in UTC and the 23 before it.',
      ),
    ),
    archived: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Lists archived agents instead of active ones.',
      }),
    ),
  }),
  responses: { 200: page('AgentList', 'agents', Agent) },
});

export const getAgent = endpoint({
  ...readable,
  id: 'getAgent',
  path: '/api/v1/agents/{agentId}',
  summary: 'Get an agent',
  responses: { 200: Agent, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const updateAgent = endpoint({
  ...managed,
  id: 'updateAgent',
  method: 'PATCH',
  path: '/api/v1/agents/{agentId}',
  summary: 'Update an agent',
  description:
    "Changes any setting, even of a deployed agent. `promptVersionId` pins another version; the agent's identifier and keys stay the same. `agentConfig` and `rateLimits` are merged by field; lists and defaults are replaced. The result is validated as a whole. Returns 409 if the agent does not declare all placeholders of that version: declare them in the same call.",
  headers: ifMatch,
  body: AgentPatch,
  responses: { 200: Agent, ...problems(404), 409: UndeclaredProblem },
  responseHeaders: ['ETag'],
});

export const deleteAgent = endpoint({
  ...managed,
  id: 'deleteAgent',
  method: 'DELETE',
  path: '/api/v1/agents/{agentId}',
  summary: 'Delete an agent',
  description:
    'Allowed only in Testing and Paused. Its keys lose access to it immediately. Accepted executions still end; its records stay until retention deletes them, but can no longer be read over the API: archive an agent whose history you need.',
  headers: ifMatch,
  responses: { 204: null, ...problems(404), 409: TransitionProblem },
});

export const changeAgentStage = endpoint({
  ...managed,
  id: 'changeAgentStage',
  method: 'POST',
  path: '/api/v1/agents/{agentId}/lifecycle',
  summary: 'Change the lifecycle stage of an agent',
  description:
    '`enable-api` Draft → Testing, `deploy` Testing → Deployed, `rollback` Deployed → Testing, `disable` Deployed → Paused, `re-enable` Paused → Deployed. `archive` sets a flag independent of the stage and is allowed in Draft, Testing and Paused; `restore` clears it.',
  body: body('LifecycleRequest', {
    action: oneOf(actions),
    cancelRunning: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Only with `disable`: also cancels the executions of the agent that have not ended, before the response. Also requires `cancel`.',
      }),
    ),
  }),
  responses: { 200: Agent, ...problems(404), 409: TransitionProblem },
  responseHeaders: ['ETag'],
});

export const getAgentLimits = endpoint({
  ...readable,
  id: 'getAgentLimits',
  path: '/api/v1/agents/{agentId}/limits',
  summary: 'Get the rate limit usage of an agent',
  description:
    "In Testing, each window shows the lower of the agent's limit and the stage's limit. `GET /api/v1/keys` shows the usage of each key.",
  responses: {
    200: Type.Object({ rateLimitUsage: RateLimitUsage }, { title: 'AgentLimits' }),
    ...problems(404),
  },
});

const refusalFields = {
  code: Type.String({ description: 'Code of the response, such as `MISSING_VARIABLES`.' }),
  count: Type.Integer({ description: 'Number of refused calls.' }),
  lastMessage: Type.String({
    description: 'Message of the last one, without anything that the caller sent.',
  }),
  lastAt: time('Time of the last one.'),
};

const whatIsCounted =
  'Calls with a key that left no record, such as those refused with 400, and calls with a key that is revoked, expired or not valid for the agent, in the last 30 days. The latest first, at most 1,000. Lines of batches keep their own reasons.';

export const listRefusals = endpoint({
  ...readable,
  id: 'listRefusals',
  path: '/api/v1/agents/{agentId}/refusals',
  summary: 'List the refused calls of an agent',
  description: `Counted by key and code. ${whatIsCounted}`,
  responses: {
    200: Type.Object(
      {
        refusals: Type.Array(
          Type.Object(
            { apiKeyId: id('key', 'The key that called.'), ...refusalFields },
            { title: 'AgentRefusal' },
          ),
        ),
      },
      { title: 'AgentRefusals' },
    ),
    ...problems(404),
  },
});

export const listKeyRefusals = endpoint({
  ...readable,
  id: 'listKeyRefusals',
  path: '/api/v1/keys/{apiKeyId}/refusals',
  summary: 'List the refused calls of an API key',
  description: `Counted by agent and code, for agents that the caller sees. ${whatIsCounted}`,
  responses: {
    200: Type.Object(
      {
        refusals: Type.Array(
          Type.Object(
            { agentId: id('agent', 'The agent that was called.'), ...refusalFields },
            { title: 'KeyRefusal' },
          ),
        ),
      },
      { title: 'KeyRefusals' },
    ),
    ...problems(404),
  },
});

export const listPins = endpoint({
  ...readable,
  id: 'listPins',
  path: '/api/v1/agents/{agentId}/pins',
  summary: 'List the pinned versions of an agent',
  description:
    'Sorted newest first; the first is the current version. Pin an earlier version again to roll back.',
  query: query(pageQuery),
  responses: { 200: page('PinList', 'pins', Pin), ...problems(404) },
});

export const listAllPins = endpoint({
  ...readable,
  id: 'listAllPins',
  path: '/api/v1/pins',
  summary: 'List the pinned versions of all agents',
  description:
    'Pins of all agents that the caller can see, newest first, for example the changes behind a jump in cost. The first pin of an agent is its creation. Private agents in Draft with the tag `playground` are left out: the playground of the dashboard pins the version of each execution.',
  query: query({
    ...pageQuery,
    startDate: Type.Optional(startDate),
    endDate: Type.Optional(endDate),
  }),
  responses: { 200: page('AgentPinList', 'pins', AgentPin) },
});

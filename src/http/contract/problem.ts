import { type TSchema, Type } from 'typebox';
import { actions } from '../../core/agent/agent.ts';
import { callFailureCodes } from '../../core/failure.ts';
import { sharedResources } from '../../core/shares.ts';
import { type Endpoint, isManagement, parsesBody } from './operation.ts';
import { id, ifMatch, nullable, oneOf, RateLimits, time } from './shared.ts';

/** Error responses: four common fields, extended for some codes. */

const base = {
  error: Type.String({ description: 'Short name of the error.' }),
  message: Type.String({ description: 'What is wrong and, where useful, what is allowed.' }),
  code: oneOf(callFailureCodes, 'Error code for programs.'),
  requestId: Type.String({
    description: 'Same as the header `X-Request-Id`. Quote it in a report.',
  }),
};

const Share = Type.Object(
  {
    resource: oneOf(
      sharedResources,
      'With `UNAVAILABLE`: what is shared between workspaces and full.',
    ),
    scope: oneOf(
      ['workspace', 'process'],
      'Whose slots are in use: those of the workspace, or all of the process.',
    ),
    limit: Type.Integer({ description: 'Number of these slots.' }),
  },
  { title: 'Share' },
);

export const Problem = Type.Object(
  { ...base, share: Type.Optional(Share) },
  { title: 'Problem', additionalProperties: true },
);

const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

export const VariablesProblem = Type.Object(
  {
    ...base,
    missingVariables: names('Required variables that are missing from the call.'),
    requiredVariables: names('All required variables of the agent.'),
    variable: Type.Optional(
      Type.String({
        description: 'Variable whose value cannot be stored, or does not match its schema.',
      }),
    ),
    path: Type.Optional(
      Type.String({
        description:
          'Place in the value that does not match its schema, as a JSON pointer. Empty: the value itself.',
      }),
    ),
    maxCostUSD: Type.Optional(
      Type.Number({
        description:
          'With `COST_LIMIT_TOO_LOW`: the limit that holds. Absent if the caller sees no costs.',
      }),
    ),
    neededUSD: Type.Optional(
      Type.Number({ description: 'The most that one call of the model may cost. Likewise.' }),
    ),
  },
  { title: 'VariablesProblem', additionalProperties: true },
);

const amount = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));

export const LimitedBy = Type.Object(
  {
    scope: oneOf(['key', 'agent', 'stage', 'quota', 'budget'], 'Owner of the exhausted limit.'),
    apiKeyId: Type.Optional(
      id(
        'key',
        'With scope `key`: the key whose window is exhausted. It may have issued the used key.',
      ),
    ),
    window: oneOf(
      ['minute', 'hour', 'day', 'week', 'month', 'total'],
      'The exhausted window; of a budget its period.',
    ),
    limit: Type.Optional(
      Type.Integer({ description: 'Limit of the window. Not with scope `budget`.' }),
    ),
    resetAt: nullable(time('End of the window. `null` for a budget with the period `total`.')),
    budgetId: Type.Optional(id('budget', 'With scope `budget`, like all that follow.')),
    name: Type.Optional(Type.String({ description: 'Name of the budget.' })),
    reason: Type.Optional(
      oneOf(
        ['spent', 'reserved'],
        '`reserved`: the call would fit if running calls cost nothing. Try again in a few seconds.',
      ),
    ),
    limitUSD: amount('Limit of the budget. No amounts for callers that see no costs.'),
    settledUSD: amount('What the calls of the window have cost.'),
    reservedUSD: amount('What running calls may cost at most.'),
    neededUSD: amount('What this call may cost at most.'),
  },
  { title: 'LimitedBy' },
);

const retryAfter = Type.Integer({
  minimum: 1,
  description: 'Seconds to wait, as in the header `Retry-After`.',
});

export const LimitProblem = Type.Object(
  {
    ...base,
    rateLimits: RateLimits,
    retryAfter,
    limitedBy: LimitedBy,
  },
  {
    title: 'LimitProblem',
    description:
      '`rateLimits` are the limits of the key, or of the key that issued it if its window is exhausted; for a session, those of the agent.',
    additionalProperties: true,
  },
);

export const ListLimitProblem = Type.Object(
  { ...base, retryAfter },
  { title: 'ListLimitProblem', additionalProperties: true },
);

export const TransitionProblem = Type.Object(
  {
    ...base,
    allowedActions: Type.Optional(
      Type.Array(oneOf(actions), {
        description: 'Lifecycle actions that are allowed in the current stage.',
      }),
    ),
  },
  { title: 'TransitionProblem', additionalProperties: true },
);

export const UndeclaredProblem = Type.Object(
  {
    ...base,
    undeclaredVariables: names('Placeholders of the version that the agent does not declare.'),
  },
  { title: 'UndeclaredProblem', additionalProperties: true },
);

/** One problem of a workflow definition. */
export const WorkflowProblem = Type.Object(
  {
    step: nullable(Type.String(), 'Affected step. `null` for the whole workflow.'),
    path: Type.String({ description: 'Position in the definition, for example `steps.2.when`.' }),
    message: Type.String({ description: 'What is wrong.' }),
  },
  { title: 'WorkflowProblem' },
);

export const WorkflowProblems = Type.Object(
  {
    ...base,
    problems: Type.Optional(
      Type.Array(WorkflowProblem, { description: 'All problems of the definition.' }),
    ),
  },
  { title: 'WorkflowProblems', additionalProperties: true },
);

export const WorkflowInputProblem = Type.Object(
  {
    ...base,
    missingInput: names('Required inputs that are missing from the call.'),
    requiredInput: names('All required inputs of the workflow.'),
  },
  { title: 'WorkflowInputProblem', additionalProperties: true },
);

/** Error responses with only the four common fields, for these statuses. */
export function problems<const Statuses extends readonly number[]>(...statuses: Statuses) {
  const responses = Object.fromEntries(statuses.map((status) => [status, Problem]));
  return responses as Record<Statuses[number], typeof Problem>;
}

/** The form of errors of the OpenAI API. */
export const OpenAIProblem = Type.Object(
  {
    error: Type.Object(
      {
        message: Type.String({ description: 'What is wrong.' }),
        type: Type.String({ description: 'Kind of error.' }),
        param: nullable(Type.String(), 'The parameter that is wrong.'),
        code: Type.String({ description: 'Error code for programs.' }),
      },
      { additionalProperties: true },
    ),
  },
  { title: 'OpenAIProblem' },
);

export function openaiProblems<const Statuses extends readonly number[]>(...statuses: Statuses) {
  const responses = Object.fromEntries(statuses.map((status) => [status, OpenAIProblem]));
  return responses as Record<Statuses[number], typeof OpenAIProblem>;
}

/**
 * Every possible response of an endpoint: the declared ones and those that follow from the
 * declaration.
 */
export function responsesOf(e: Endpoint): Map<number, TSchema | null> {
  const implied = [
    // Even without a query: unknown parameters are rejected everywhere.
    ...(e.tag === 'System' ? [] : [400]),
    ...(e.auth === 'none' ? [] : [401, 403]),
    ...(parsesBody(e) ? [413, 415] : []),
    ...(e.method === 'PATCH' || e.headers === ifMatch ? [412] : []),
    500,
    503,
  ];
  const all = new Map<number, TSchema | null>(implied.map((status) => [status, Problem]));
  if (isManagement(e)) {
    all.set(429, e.tag === 'OpenAI API' ? OpenAIProblem : ListLimitProblem);
  }
  for (const [status, schema] of Object.entries(e.responses)) all.set(Number(status), schema);
  return new Map([...all].sort(([a], [b]) => a - b));
}

import { type TSchema, Type } from 'typebox';
import { actions } from '../core/agent/agent.ts';
import { callFailureCodes } from '../core/failure.ts';
import { type Endpoint, readsBody } from './endpoint.ts';
import { nullable, oneOf, RateLimits, time } from './shared.ts';

/** Error answers: the same four fields on every one, and what some of them add. */

const base = {
  error: Type.String({ description: 'What kind of error, in a few words.' }),
  message: Type.String({ description: 'What was wrong and, where that helps, what is allowed.' }),
  code: oneOf(callFailureCodes, 'What kind of error, for programs.'),
  requestId: Type.String({ description: 'The same as the header `X-Request-Id`; quote it.' }),
};

export const Problem = Type.Object(base, { title: 'Problem', additionalProperties: true });

const names = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));

export const VariablesProblem = Type.Object(
  {
    ...base,
    missingVariables: names('Required variables that the call did not supply.'),
    requiredVariables: names('All variables that the agent requires.'),
    variable: Type.Optional(Type.String({ description: 'The variable that cannot be stored.' })),
  },
  { title: 'VariablesProblem', additionalProperties: true },
);

export const LimitedBy = Type.Object(
  {
    scope: oneOf(['key', 'agent', 'stage', 'quota'], 'Whose limit it was.'),
    window: oneOf(['minute', 'hour', 'day', 'month'], 'Which window was full.'),
    limit: Type.Integer({ description: 'What the window lets past.' }),
    resetAt: time('When the window ends.'),
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
    description: '`rateLimits` are those configured on the key; for a session those of the agent.',
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
      Type.Array(oneOf(actions), { description: 'What the agent can do from where it stands.' }),
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

/** One thing that is wrong with a workflow. */
export const WorkflowProblem = Type.Object(
  {
    step: nullable(Type.String(), 'The step it is about; `null` for the workflow as a whole.'),
    path: Type.String({ description: 'Where in the definition, for example `steps.2.when`.' }),
    message: Type.String({ description: 'What is wrong there.' }),
  },
  { title: 'WorkflowProblem' },
);

export const WorkflowProblems = Type.Object(
  {
    ...base,
    problems: Type.Optional(
      Type.Array(WorkflowProblem, { description: 'All that is wrong with the definition.' }),
    ),
  },
  { title: 'WorkflowProblems', additionalProperties: true },
);

export const WorkflowInputProblem = Type.Object(
  {
    ...base,
    missingInput: names('Required inputs that the call did not give.'),
    requiredInput: names('All inputs that the workflow requires.'),
  },
  { title: 'WorkflowInputProblem', additionalProperties: true },
);

/** Plain error answers with these statuses. */
export function problems<const Statuses extends readonly number[]>(...statuses: Statuses) {
  const answers = Object.fromEntries(statuses.map((status) => [status, Problem]));
  return answers as Record<Statuses[number], typeof Problem>;
}

/** Everything an endpoint can answer: what it declares, and what follows from the rest of its declaration. */
export function answersOf(e: Endpoint): Map<number, TSchema | null> {
  const implied = [
    // Also without a query of its own: unknown parameters are refused everywhere.
    ...(e.tag === 'System' ? [] : [400]),
    ...(e.auth === 'none' ? [] : [401, 403]),
    ...(readsBody(e) ? [413, 415] : []),
    500,
    503,
  ];
  const all = new Map<number, TSchema | null>(implied.map((status) => [status, Problem]));
  for (const [status, schema] of Object.entries(e.answers)) all.set(Number(status), schema);
  return new Map([...all].sort(([a], [b]) => a - b));
}

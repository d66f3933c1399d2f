import { Type } from 'typebox';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { ListLimitProblem, problems, VariablesProblem } from '../../../http/contract/problem.ts';
import { body, nullable } from '../../../http/contract/shared.ts';

export const estimateCost = endpoint({
  id: 'estimateCost',
  method: 'POST',
  path: '/api/v1/agents/{agentId}/estimate',
  summary: 'Estimate the cost of an execution',
  description:
    'Executes nothing. `boundUSD` is the most that one call of the first model may cost, which a limit of cost must leave room for; further attempts cost as much again. Returns 400 with `PRICE_UNKNOWN` for a model without a known price.',
  tag: 'Executions',
  auth: 'read',
  session: 'read',
  body: body('EstimateInput', {
    variables: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'As in a call. Must contain every required variable.',
    }),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limits.estimatedMax,
        description: 'Number of executions with such variables. Default: 1.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        boundUSD: Type.Number({
          description: 'The most that `count` calls may cost, in US dollars.',
        }),
        expectedUSD: nullable(
          Type.Number(),
          'What they usually cost: `count` times the median cost of the last 1,000 executions with the pinned version, among the last 10,000 of the agent. `null` without one.',
        ),
      },
      { title: 'Estimate' },
    ),
    400: VariablesProblem,
    ...problems(404),
    429: ListLimitProblem,
  },
  responseHeaders: ['RateLimit'],
});

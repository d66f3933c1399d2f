import { Type } from 'typebox';
import { userMax } from '../../../core/labels.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { ListLimitProblem, problems } from '../../../http/contract/problem.ts';
import { nullable, pageQuery, query, text, time } from '../../../http/contract/shared.ts';
import { agentFilter } from '../../executions/contract/executions-contract.ts';

/** Conversations: the executions with the same `session`. */

const Session = Type.Object(
  {
    session: Type.String(),
    user: nullable(Type.String(), 'The `user` of its newest execution.'),
    executions: Type.Integer({ minimum: 1 }),
    firstAt: time('`executedAt` of its oldest execution.'),
    lastAt: time('`executedAt` of its newest execution.'),
    costUSD: Type.Number({ description: 'The sum of the known costs.' }),
    costKnown: Type.Boolean(),
    failures: Type.Integer({ minimum: 0, description: 'Executions that failed.' }),
    isLowerBound: Type.Optional(
      Type.Literal(true, {
        description: `It has more than ${limits.sessionExecutionsMax} executions: the figures are those of the newest so many.`,
      }),
    ),
  },
  { title: 'Session' },
);

export const listSessions = endpoint({
  id: 'listSessions',
  method: 'GET',
  path: '/api/v1/sessions',
  summary: 'List sessions',
  description:
    'The sessions that executions name, the one with the newest record first. Only records of agents that the caller can see count, without those marked `playground`, and with `user` or `agentId` only those that match. A page that is not full after five seconds is returned short, with `searchedTo`.',
  tag: 'Executions',
  auth: 'read',
  query: query({
    user: Type.Optional(text(userMax, 'Only executions for this `user`.')),
    agentId: agentFilter,
    limit: pageQuery.limit,
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.cursorMax,
        description: '`nextCursor` of the previous page.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        sessions: Type.Array(Session),
        nextCursor: Type.Optional(
          Type.String({ description: 'Value for `cursor`. Absent on the last page.' }),
        ),
        searchedTo: Type.Optional(
          Type.String({
            format: 'date-time',
            description: 'Older executions have not been searched. Continue with `nextCursor`.',
          }),
        ),
      },
      { title: 'SessionList' },
    ),
    ...problems(400),
    429: ListLimitProblem,
  },
  responseHeaders: ['RateLimit', 'Cueline-Data-As-Of'],
});

import { type Static, Type } from 'typebox';
import { endStatuses, sources } from '../core/execution.ts';
import { type Level, levels } from '../core/statistics.ts';
import { endpoint } from './endpoint.ts';
import { endDate, startDate } from './executions.ts';
import * as limits from './limits.ts';
import { problems } from './problem.ts';
import { id, oneOf, query, time } from './shared.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Latency = Type.Object(
  {
    p50: Type.Integer({ minimum: 0 }),
    p95: Type.Integer({ minimum: 0 }),
    p99: Type.Integer({ minimum: 0 }),
  },
  { title: 'Latency', description: 'Milliseconds, estimated from a histogram.' },
);

export const Bucket = Type.Object(
  {
    start: time('When the bucket begins.'),
    status: oneOf(endStatuses),
    source: oneOf(sources),
    count: count('What happened, refusals that got no record included; never reduced.'),
    recorded: count('Records that exist; fewer than happened, and reduced by retention.'),
    inputTokens: count('Cached ones included.'),
    outputTokens: count('What the models wrote.'),
    costUSD: Type.Number({ minimum: 0 }),
    latencyMs: Type.Union([Latency, Type.Null()], { description: '`null` where nothing ran.' }),
  },
  { title: 'Bucket' },
);
export type Bucket = Static<typeof Bucket>;

export const Statistics = Type.Object(
  {
    agentId: id('agent', 'The agent.'),
    level: oneOf(levels),
    startDate: time('Start of the first bucket.'),
    endDate: time('End of the last bucket.'),
    buckets: Type.Array(Bucket, { description: 'Oldest first; empty ones are left out.' }),
  },
  { title: 'Statistics' },
);
export type Statistics = Static<typeof Statistics>;

export const getStatistics = endpoint({
  id: 'getStatistics',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/statistics',
  summary: "Read an agent's statistics",
  description: `Counted by the time a call was accepted or refused, one bucket for each step of time, status and source. At most ${limits.statisticsStepsMax} steps; without dates the last 60 minutes, 48 hours or 30 days.`,
  tag: 'Executions',
  auth: 'read',
  query: query({
    level: Type.Optional(
      Type.Unsafe<Level>({ ...oneOf(levels, 'The length of a step.'), default: 'day' }),
    ),
    startDate: Type.Optional(startDate),
    endDate: Type.Optional(endDate),
  }),
  answers: { 200: Statistics, ...problems(404) },
});

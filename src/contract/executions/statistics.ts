import { type Static, Type } from 'typebox';
import { endStatuses, sources } from '../../core/execution/execution.ts';
import { executionErrorCodes } from '../../core/failure.ts';
import { groupings } from '../../core/history/statistics.ts';
import { type StepLength, stepLengths } from '../../core/history/steps.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { ListLimitProblem, problems } from '../problem.ts';
import { exampleId, id, nullable, oneOf, query, time } from '../shared.ts';
import { endDate, startDate } from './executions.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Latency = Type.Object(
  {
    p50: Type.Integer({ minimum: 0 }),
    p95: Type.Integer({ minimum: 0 }),
    p99: Type.Integer({ minimum: 0 }),
  },
  {
    title: 'Latency',
    description:
      'Milliseconds, read from a histogram: off by at most a tenth and half a millisecond.',
  },
);

export const Bucket = Type.Object(
  {
    start: time('When the step begins.'),
    end: time('Its last millisecond: as an `endDate` it means the same.'),
    agentId: Type.Optional(id('agent', 'Where grouped by `agent`.')),
    agentName: Type.Optional(
      nullable(Type.String(), 'Where grouped by `agent`; also that of a deleted one.'),
    ),
    status: Type.Optional(oneOf(endStatuses, 'Where grouped by `status`.')),
    source: Type.Optional(oneOf(sources, 'Where grouped by `source`.')),
    promptVersionId: Type.Optional(id('version', 'Where grouped by `version`.')),
    promptVersionLabel: Type.Optional(nullable(Type.String(), 'Where grouped by `version`.')),
    model: Type.Optional(Type.String({ description: 'Where grouped by `model`.' })),
    apiKeyId: Type.Optional(
      nullable(id('key'), 'Where grouped by `key`; `null` for calls without one.'),
    ),
    errorCode: Type.Optional(
      nullable(oneOf(executionErrorCodes), 'Where grouped by `errorCode`; `null` for successes.'),
    ),
    count: count('What occurred, refusals that got no record included; never reduced.'),
    recorded: count('Records that exist; fewer than occurred, and reduced by retention.'),
    successRate: nullable(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Successes by successes and failures; `null` where there is neither. Refused and canceled calls do not count.',
    ),
    inputTokens: count('Cached ones included.'),
    outputTokens: count('What the models wrote.'),
    costUSD: Type.Number({ minimum: 0, description: 'What is known of it.' }),
    costUnknown: count('Calls whose cost is not known, or only in part: `costUSD` lacks theirs.'),
    latencyMs: Type.Union([Latency, Type.Null()], { description: '`null` where nothing ran.' }),
  },
  { title: 'Bucket' },
);
export type Bucket = Static<typeof Bucket>;

const answered = {
  level: oneOf(stepLengths),
  groupBy: Type.Array(oneOf(groupings), { description: 'What each step is told apart by.' }),
  timeZone: Type.String({ description: 'Where days and hours begin.', examples: ['UTC'] }),
  startDate: time('Start of the first step.'),
  endDate: time('Last millisecond of the last step.'),
  buckets: Type.Array(Bucket, {
    description: 'Oldest first, then by what they are grouped by; empty ones are left out.',
  }),
};

export const Statistics = Type.Object(
  { agentId: id('agent', 'The agent.'), ...answered },
  { title: 'Statistics' },
);
export type Statistics = Static<typeof Statistics>;

export const WorkspaceStatistics = Type.Object(answered, { title: 'WorkspaceStatistics' });
export type WorkspaceStatistics = Static<typeof WorkspaceStatistics>;

/** Of one agent: there is nothing to tell agents apart by. */
export const agentGroupings = groupings.filter((grouping) => grouping !== 'agent');

/** Only bounded here: what is wrong with a text the handler says, with the words that help. */
function asked(allowed: readonly string[]) {
  return {
    level: Type.Optional(
      Type.Unsafe<StepLength>({
        ...oneOf(stepLengths, 'The length of a step; `all`: the whole range is one.'),
        default: 'day',
      }),
    ),
    groupBy: Type.Optional(
      Type.String({
        maxLength: 100,
        default: 'status,source',
        description: `What each step is told apart by: some of ${allowed.join(', ')}, with commas between; \`none\` or nothing for time alone.`,
        examples: ['status,source', 'model'],
      }),
    ),
    timeZone: Type.Optional(
      Type.String({
        maxLength: 100,
        default: 'UTC',
        description:
          'IANA name of the zone whose days and hours are meant, also by dates alone in `startDate` and `endDate`.',
        examples: ['Europe/Berlin'],
      }),
    ),
    startDate: Type.Optional({
      ...startDate,
      description: 'ISO 8601, inclusive. A date alone means the start of that day in `timeZone`.',
    }),
    endDate: Type.Optional({
      ...endDate,
      description: 'ISO 8601, inclusive. A date alone means the end of that day in `timeZone`.',
    }),
  };
}

const bounds = `At most ${limits.statisticsStepsMax} steps, ${limits.statisticsBucketsMax} buckets, and ${limits.statisticsRowsMax} stored rows to add up; level \`minute\` reaches ${limits.statisticsMinuteDays} days back and groups by status and source. Without dates the last 60 minutes, 48 hours or 30 days.`;

export const getStatistics = endpoint({
  id: 'getStatistics',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/statistics',
  summary: "Read an agent's statistics",
  description: `Counted by the time a call was accepted or refused, one bucket for each step of time and each group in it. ${bounds}`,
  tag: 'Executions',
  auth: 'read',
  query: query(asked(agentGroupings)),
  answers: { 200: Statistics, ...problems(404), 429: ListLimitProblem },
  sends: ['RateLimit'],
});

export const getWorkspaceStatistics = endpoint({
  id: 'getWorkspaceStatistics',
  method: 'GET',
  path: '/api/v1/statistics',
  summary: "Read the statistics of all the workspace's agents",
  description: `As those of one agent, added up over all agents that the caller sees, or told apart by \`agent\`. Agents that were deleted count as long as the caller would see them. ${bounds}`,
  tag: 'Executions',
  auth: 'read',
  query: query({
    ...asked(groupings),
    agentIds: Type.Optional(
      Type.String({
        minLength: 1,
        // An identifier and its comma take 31.
        maxLength: limits.statisticsAgentsMax * 40,
        description: `Only these agents, at most ${limits.statisticsAgentsMax}, with commas between. One that the caller does not see counts for nothing.`,
        examples: [exampleId('agent')],
      }),
    ),
  }),
  answers: { 200: WorkspaceStatistics, 429: ListLimitProblem },
  sends: ['RateLimit'],
});

import { type Static, Type } from 'typebox';
import { endStatuses, sources } from '../../../core/execution/execution.ts';
import { executionErrorCodes } from '../../../core/failure.ts';
import { groupings } from '../../../core/history/statistics.ts';
import { tagMax, userMax } from '../../../core/labels.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { endDate, startDate } from '../../../http/contract/period.ts';
import { ListLimitProblem, problems } from '../../../http/contract/problem.ts';
import {
  exampleId,
  id,
  nullable,
  oneOf,
  query,
  reference,
  text,
  time,
} from '../../../http/contract/shared.ts';
import { playgroundFilter } from '../../executions/contract/executions-contract.ts';
import { type IntervalLength, intervalLengths } from '../rules/intervals.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const Latency = Type.Object(
  {
    p50: Type.Integer({ minimum: 0 }),
    p95: Type.Integer({ minimum: 0 }),
    p99: Type.Integer({ minimum: 0 }),
  },
  {
    title: 'Latency',
    description: 'Milliseconds, from a histogram: accurate to 10 % and half a millisecond.',
  },
);

export const Bucket = Type.Object(
  {
    start: time('Start of the interval.'),
    end: time('Last millisecond of the interval. Valid as `endDate` for the same interval.'),
    agentId: Type.Optional(id('agent', 'Present if grouped by `agent`.')),
    agentName: Type.Optional(
      nullable(Type.String(), 'Present if grouped by `agent`, even for a deleted agent.'),
    ),
    status: Type.Optional(oneOf(endStatuses, 'Present if grouped by `status`.')),
    source: Type.Optional(oneOf(sources, 'Present if grouped by `source`.')),
    promptVersionId: Type.Optional(id('version', 'Present if grouped by `version`.')),
    promptVersionLabel: Type.Optional(nullable(Type.String(), 'Present if grouped by `version`.')),
    model: Type.Optional(Type.String({ description: 'Present if grouped by `model`.' })),
    apiKeyId: Type.Optional(
      nullable(id('key'), 'Present if grouped by `key`. `null` for calls without a key.'),
    ),
    errorCode: Type.Optional(
      nullable(
        oneOf(executionErrorCodes),
        'Present if grouped by `errorCode`. `null` for successes.',
      ),
    ),
    user: Type.Optional(
      Type.String({
        description:
          'Present if grouped by `user`. Calls without one form a bucket without this field.',
      }),
    ),
    tag: Type.Optional(
      Type.String({
        description: 'The same for `tag`. A call with two tags counts in both buckets.',
      }),
    ),
    other: Type.Optional(
      Type.Literal(true, {
        description: `The bucket sums all but the ${limits.statisticsValuesMax} values with the most calls in the whole range.`,
      }),
    ),
    count: count(
      'Number of calls, including refusals without a record. Retention never reduces it.',
    ),
    recorded: count('Number of existing records. At most `count`; retention reduces it.'),
    successRate: nullable(
      Type.Number({ minimum: 0, maximum: 1 }),
      'Successes divided by successes plus failures. `null` if there are neither. Refused and canceled calls do not count.',
    ),
    inputTokens: count('Input tokens, including cached ones.'),
    outputTokens: count('Output tokens.'),
    costUSD: Type.Number({ minimum: 0, description: 'Sum of the known costs.' }),
    costUnknown: count(
      'Number of executions whose cost is unknown or only partly known. `costUSD` omits the unknown part.',
    ),
    latencyMs: Type.Union([Latency, Type.Null()], {
      description: '`null` if the model was never called.',
    }),
  },
  {
    title: 'Bucket',
    patternProperties: {
      '^metadata\\.': Type.String({
        description:
          'Present if grouped by `metadata.NAME`, under that name. Calls without one form a bucket without this field.',
      }),
    },
  },
);
export type Bucket = Static<typeof Bucket>;

const answered = {
  level: oneOf(intervalLengths, 'Length of an interval.'),
  groupBy: Type.Array(Type.String(), { description: 'Groups within each interval.' }),
  timeZone: Type.String({ description: 'Time zone of the days and hours.', examples: ['UTC'] }),
  startDate: time('Start of the first interval.'),
  endDate: time('Last millisecond of the last interval.'),
  buckets: Type.Array(Bucket, {
    description: 'Sorted by time, oldest first, then by group. Empty buckets are omitted.',
  }),
  totals: Type.Optional(
    Type.Array(Bucket, {
      description:
        'Present with `totals=true`: one bucket per group over the whole range, sorted by group.',
    }),
  ),
};

export const Statistics = Type.Object(
  { agentId: id('agent', 'The agent.'), ...answered },
  { title: 'Statistics' },
);
export type Statistics = Static<typeof Statistics>;

export const WorkspaceStatistics = Type.Object(answered, { title: 'WorkspaceStatistics' });
export type WorkspaceStatistics = Static<typeof WorkspaceStatistics>;

/** Groupings of a single agent's statistics: all except `agent`. */
export const agentGroupings = groupings.filter((grouping) => grouping !== 'agent');

/** Only bounded here. The handler validates the value and reports errors in plain words. */
function statisticsParameters(allowed: readonly string[]) {
  return {
    level: Type.Optional(
      Type.Unsafe<IntervalLength>({
        ...oneOf(
          intervalLengths,
          'Length of an interval. `all`: one interval for the whole range. Weeks begin on Mondays, six hours at 0:00, 6:00, 12:00 and 18:00.',
        ),
        default: 'day',
      }),
    ),
    groupBy: Type.Optional(
      Type.String({
        maxLength: 300,
        default: 'status,source',
        description: `Comma-separated list of groupings: ${allowed.join(', ')}, and at most one of user, tag and metadata.NAME. \`none\` or empty groups by time only.`,
        examples: ['status,source', 'model'],
      }),
    ),
    timeZone: Type.Optional(
      Type.String({
        maxLength: 100,
        default: 'UTC',
        description:
          'IANA time zone of the days and hours, and of dates in `startDate` and `endDate`. A day may have 23 or 25 hours.',
        examples: ['Europe/Berlin'],
      }),
    ),
    playground: playgroundFilter(
      'Whether to count executions marked `playground`. Default: `false`.',
    ),
    model: Type.Optional(text(limits.modelMax, 'Only executions with this model.')),
    apiKeyId: Type.Optional(reference('key', 'Only executions with this key.')),
    user: Type.Optional(
      text(userMax, 'Only executions for this user. Not with a grouping by label.'),
    ),
    tag: Type.Optional(
      text(
        tagMax,
        `Only executions with this tag. Not with a grouping by label. With \`user\`, the records are added up, if the user has at most ${limits.statisticsRecordsMax} in the range.`,
      ),
    ),
    totals: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Adds `totals`, whose percentiles cannot be computed from those of `buckets`.',
      }),
    ),
    startDate: Type.Optional({
      ...startDate,
      description:
        'ISO 8601, inclusive. A date without a time means the start of that day in `timeZone`.',
    }),
    endDate: Type.Optional({
      ...endDate,
      description:
        'ISO 8601, inclusive. A date without a time means the end of that day in `timeZone`.',
    }),
  };
}

const bounds = `Limits: ${limits.statisticsIntervalsMax} intervals, ${limits.statisticsBucketsMax} buckets and ${limits.statisticsRowsMax} stored rows (${limits.statisticsLabelRowsMax} by user, tag or metadata) per response. Level \`minute\` covers the last ${limits.statisticsMinuteDays} days and groups only by status, source and agent. Default range: the last 60 minutes, 24 hours (\`quarterHour\`), 48 hours (\`hour\`), 7 days (\`sixHours\`), 30 days or 13 weeks.`;

const counted =
  'Counted by the time a call was accepted or refused, one bucket per interval and group. Executions in progress are not included. Bounds are rounded to whole intervals (quarter hours with `all`) and returned.';

export const getStatistics = endpoint({
  id: 'getStatistics',
  method: 'GET',
  path: '/api/v1/agents/{agentId}/statistics',
  summary: 'Get the statistics of an agent',
  description: `${counted} ${bounds}`,
  tag: 'Executions',
  auth: 'read',
  query: query(statisticsParameters(agentGroupings)),
  responses: { 200: Statistics, ...problems(404), 429: ListLimitProblem },
  responseHeaders: ['RateLimit', 'Cueline-Data-As-Of'],
});

export const getWorkspaceStatistics = endpoint({
  id: 'getWorkspaceStatistics',
  method: 'GET',
  path: '/api/v1/statistics',
  summary: 'Get the statistics of all agents',
  description: `${counted} Sums over all agents that the caller can see, or one group per agent with \`agent\`. Deleted agents are included under the same visibility rule. ${bounds}`,
  tag: 'Executions',
  auth: 'read',
  query: query({
    ...statisticsParameters(groupings),
    agentIds: Type.Optional(
      Type.String({
        minLength: 1,
        // The longest alias and its comma take 129 characters.
        maxLength: limits.statisticsAgentsMax * 129,
        description: `Comma-separated list of at most ${limits.statisticsAgentsMax} agents to include. Agents that the caller cannot see contribute nothing.`,
        examples: [exampleId('agent')],
      }),
    ),
  }),
  responses: { 200: WorkspaceStatistics, 429: ListLimitProblem },
  responseHeaders: ['RateLimit', 'Cueline-Data-As-Of'],
});

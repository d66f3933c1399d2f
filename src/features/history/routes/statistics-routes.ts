import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { EndStatus, Source } from '../../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../../core/failure.ts';
import { groupings, percentile } from '../../../core/history/statistics.ts';
import { toId } from '../../../core/id.ts';
import type { Db } from '../../../db/database.ts';
import { allowAgentOrigins } from '../../../http/cors.ts';
import { historySource } from '../../../http/response/history-source.ts';
import { route } from '../../../http/route.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { limitLists } from '../../people/access/count-calls.ts';
import { visibleAgent } from '../../people/access/visible-resources.ts';
import {
  agentGroupings,
  type Bucket,
  getStatistics,
  getWorkspaceStatistics,
} from '../contract/statistics-contract.ts';
import {
  readStatistics,
  type StatisticsGroup,
  type StatisticsRead,
  sumIntervals,
} from '../statements/read-statistics.ts';
import {
  readAgentIds,
  readStatisticsQuery,
  type StatisticsRequest,
  tooLarge,
} from './statistics-query.ts';

/** Statistics of one agent, or of all agents that the caller can see. */
export function statisticsRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { historyReads } = deps;

  route(
    app,
    deps,
    getStatistics,
    async ({ params, query, ...context }) => {
      const agent = await visibleAgent(deps.reads, context.caller, params.agentId);
      allowAgentOrigins(context, agent);
      const body = await historyReads.read(
        context.caller,
        async (db) => {
          const request = await readStatisticsQuery(db, query, agentGroupings);
          return statisticsWire(db, request, { agentId: agent.id });
        },
        historySource(context.request, context.reply),
      );
      return { status: 200, body: { agentId: toId('agent', agent.id), ...body } };
    },
    limitLists,
  );

  route(
    app,
    deps,
    getWorkspaceStatistics,
    async ({ query, caller, request: http, reply }) => {
      const among = await readAgentIds(deps.reads, caller, query.agentIds);
      const body = await historyReads.read(
        caller,
        async (db) => {
          const request = await readStatisticsQuery(db, query, groupings);
          return statisticsWire(db, request, { viewer: caller, among });
        },
        historySource(http, reply),
      );
      return { status: 200, body };
    },
    limitLists,
  );
}

async function statisticsWire(db: Db, request: StatisticsRequest, of: StatisticsRead['of']) {
  const { level, timeZone, by, byLabel, bounds } = request;
  const groups = await readStatistics(db, { ...request, of });
  if (typeof groups === 'string') throw tooLarge(groups, request);
  return {
    level,
    groupBy: byLabel === null ? by : [...by, byLabel.grouping],
    timeZone,
    startDate: iso(bounds[0]),
    endDate: iso((bounds.at(-1) ?? 0) - 1),
    buckets: await bucketsWire(groups, request),
    ...(request.totals && { totals: await totalsWire(groups, request) }),
  };
}

/** Yields between batches: thousands of buckets would block the event loop. */
async function bucketsWire(groups: readonly StatisticsGroup[], request: StatisticsRequest) {
  const buckets: Bucket[] = [];
  for (const group of groups) {
    buckets.push(bucketWire(group, request));
    if (buckets.length % bucketsPerBatch === 0) await yieldToEventLoop();
  }
  return buckets;
}

const bucketsPerBatch = 1_000;

/** The groups over the whole range, which is one interval. */
async function totalsWire(groups: readonly StatisticsGroup[], request: StatisticsRequest) {
  const bounds = [request.bounds[0] ?? 0, request.bounds.at(-1) ?? 0];
  return bucketsWire(await sumIntervals(groups), { ...request, bounds });
}

function bucketWire(group: StatisticsGroup, { bounds, byLabel }: StatisticsRequest): Bucket {
  const { intervalIndex, agentId, promptVersionId, apiKeyId, succeeded, failed, latency } = group;
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => percentile(latency, p));
  const completed = succeeded + failed;
  return {
    start: iso(bounds[intervalIndex]),
    end: iso((bounds[intervalIndex + 1] ?? 0) - 1),
    // Fields that are not grouped by are undefined, so the response omits them.
    agentId: agentId && toId('agent', agentId),
    agentName: group.agentName,
    status: group.status as EndStatus | undefined,
    source: group.source as Source | undefined,
    promptVersionId: promptVersionId && toId('version', promptVersionId),
    promptVersionLabel: group.promptVersionLabel,
    model: group.model,
    apiKeyId: apiKeyId && toId('key', apiKeyId),
    errorCode: group.errorCode as ExecutionErrorCode | null | undefined,
    ...(byLabel !== null && group.label != null && { [byLabel.grouping]: group.label }),
    ...(group.other && { other: true as const }),
    count: group.occurred,
    recorded: group.recorded,
    successRate: completed === 0 ? null : succeeded / completed,
    inputTokens: group.inputTokens,
    outputTokens: group.outputTokens,
    costUSD: Number(group.costUsd),
    costUnknown: group.costUnknown,
    latencyMs: p50 == null || p95 == null || p99 == null ? null : { p50, p95, p99 },
  };
}

function iso(ms = 0): string {
  return new Date(ms).toISOString();
}

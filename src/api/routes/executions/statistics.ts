import { setImmediate as othersTurn } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  agentGroupings,
  type Bucket,
  getStatistics,
  getWorkspaceStatistics,
} from '../../../contract/executions/statistics.ts';
import type { Caller } from '../../../core/execution/caller.ts';
import type { EndStatus, Source } from '../../../core/execution/execution.ts';
import type { ExecutionErrorCode } from '../../../core/failure.ts';
import { groupings, percentile } from '../../../core/history/statistics.ts';
import { toId } from '../../../core/id.ts';
import type { Db } from '../../../store/connection/database.ts';
import {
  readStatistics,
  type StatisticsGroup,
  type StatisticsRead,
} from '../../../store/history/read-statistics.ts';
import { visibleAgent } from '../../access/visible-resources.ts';
import type { ApiDeps } from '../../api-deps.ts';
import { allowAgentOrigins } from '../../http/cors.ts';
import { limitLists } from '../../http/list-limit.ts';
import { route } from '../../http/route.ts';
import { readAgentIds, readQuestion, type StatisticsRequest, tooMuch } from './statistics-query.ts';

/** Statistics, of an agent or of all that a caller sees, read as they were added up. */
export function statisticsRoutes(app: FastifyInstance, parts: ApiDeps): void {
  const { db } = parts;
  const limited = (caller: Caller, reply: FastifyReply) => limitLists(parts, caller, reply);

  route(
    app,
    parts,
    getStatistics,
    async ({ params, query, caller, request, reply }) => {
      const agent = await visibleAgent(parts.reads, caller, params.agentId);
      allowAgentOrigins({ request, reply, caller }, agent);
      const asked = await readQuestion(db, query, agentGroupings);
      const body = await answer(db, asked, { agentId: agent.id });
      return { status: 200, body: { agentId: toId('agent', agent.id), ...body } };
    },
    limited,
  );

  route(
    app,
    parts,
    getWorkspaceStatistics,
    async ({ query, caller }) => {
      const asked = await readQuestion(db, query, groupings);
      const among = readAgentIds(query.agentIds);
      return { status: 200, body: await answer(db, asked, { viewer: caller, among }) };
    },
    limited,
  );
}

async function answer(db: Db, asked: StatisticsRequest, of: StatisticsRead['of']) {
  const { level, timeZone, by, bounds } = asked;
  const groups = await readStatistics(db, { ...asked, of });
  if (typeof groups === 'string') throw tooMuch(groups);
  return {
    level,
    groupBy: by,
    timeZone,
    startDate: iso(bounds[0]),
    endDate: iso((bounds.at(-1) ?? 0) - 1),
    buckets: await bucketsWire(groups, bounds),
  };
}

/** Not in one go: thousands of them keep a process from everybody else for too long. */
async function bucketsWire(groups: readonly StatisticsGroup[], bounds: readonly number[]) {
  const buckets: Bucket[] = [];
  for (const group of groups) {
    buckets.push(bucketWire(group, bounds));
    if (buckets.length % bucketsAtOnce === 0) await othersTurn();
  }
  return buckets;
}

const bucketsAtOnce = 1_000;

function bucketWire(group: StatisticsGroup, bounds: readonly number[]): Bucket {
  const { step, agentId, promptVersionId, apiKeyId, succeeded, failed, latency } = group;
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => percentile(latency, p));
  const ran = succeeded + failed;
  return {
    start: iso(bounds[step]),
    end: iso((bounds[step + 1] ?? 0) - 1),
    // What is not grouped by is undefined, and so not in the answer.
    agentId: agentId && toId('agent', agentId),
    agentName: group.agentName,
    status: group.status as EndStatus | undefined,
    source: group.source as Source | undefined,
    promptVersionId: promptVersionId && toId('version', promptVersionId),
    promptVersionLabel: group.promptVersionLabel,
    model: group.model,
    apiKeyId: apiKeyId && toId('key', apiKeyId),
    errorCode: group.errorCode as ExecutionErrorCode | null | undefined,
    count: group.occurred,
    recorded: group.recorded,
    successRate: ran === 0 ? null : succeeded / ran,
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

import type { FastifyInstance } from 'fastify';
import { statisticsStepsMax } from '../../contract/limits.ts';
import { getStatistics } from '../../contract/statistics.ts';
import { endStatuses, sources } from '../../core/execution.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import { windowStartMs } from '../../core/limits.ts';
import { type Level, percentile } from '../../core/statistics.ts';
import { readClock } from '../../store/clock.ts';
import { readStatistics, type StatisticsRow } from '../../store/statistics.ts';
import { visibleAgent } from '../access.ts';
import { allowOrigin } from '../cors.ts';
import type { ApiParts } from '../parts.ts';
import { type Range, readRange } from '../range.ts';
import { route } from '../route.ts';

const stepsDefault: Record<Level, number> = { minute: 60, hour: 48, day: 30 };
/** No answer that is let through can have more. */
const bucketsMax = statisticsStepsMax * endStatuses.length * sources.length;

/** An agent's statistics, read as they were added up. */
export function statisticsRoutes(app: FastifyInstance, parts: ApiParts): void {
  const { db } = parts;

  route(app, parts, getStatistics, async ({ params, query, caller, request, reply }) => {
    const agent = await visibleAgent(db, caller, params.agentId);
    allowOrigin(request, reply, [...caller.allowedOrigins, ...agent.allowedOrigins]);
    const { level = 'day' } = query;
    const { firstMs, lastMs, endMs } = steps(level, readRange(query), await readClock(db));
    const rows = await readStatistics(db, {
      ...{ agentId: agent.id, level, limit: bucketsMax },
      ...{ from: new Date(firstMs), to: new Date(lastMs) },
    });
    return {
      status: 200,
      body: {
        agentId: toId('agent', agent.id),
        level,
        startDate: new Date(firstMs).toISOString(),
        endDate: new Date(endMs).toISOString(),
        buckets: rows.map(bucketWire),
      },
    };
  });
}

/** Where the first and the last step begin, and the last millisecond of that one, which as an `endDate` means the same. */
function steps(level: Level, { startMs, endMs }: Range, nowMs: number) {
  const stepMs = windowStartMs(level, 1);
  const begin = (ms: number) => Math.floor(ms / stepMs) * stepMs;
  const lastMs = begin(endMs ?? Math.max(nowMs, startMs ?? nowMs));
  const firstMs = startMs === null ? lastMs - (stepsDefault[level] - 1) * stepMs : begin(startMs);
  const count = (lastMs - firstMs) / stepMs + 1;
  if (count <= statisticsStepsMax) return { firstMs, lastMs, endMs: lastMs + stepMs - 1 };
  throw new CallFailure(
    'INVALID_REQUEST',
    `Parameters "startDate" and "endDate" span ${count} steps of level "${level}"; at most ${statisticsStepsMax} are allowed.`,
  );
}

function bucketWire(row: StatisticsRow) {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((p) => percentile(row.latency, p));
  return {
    start: row.bucket.toISOString(),
    status: row.status,
    source: row.source,
    count: row.happened,
    recorded: row.recorded,
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    costUSD: Number(row.costUsd),
    latencyMs: p50 === null ? null : { p50, p95, p99 },
  };
}

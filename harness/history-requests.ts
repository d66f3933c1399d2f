import fc from 'fast-check';
import { endStatuses, sources } from '../src/core/execution/execution.ts';
import { everything } from '../src/core/history/history-range.ts';
import { uuidFloor } from '../src/core/id.ts';
import type { ListRequest } from '../src/features/history/verbs/history-page.ts';
import type { RandomHistory } from './history.ts';

/** Random requests for a history: filters, ranges and pages. */
export function historyRequests({
  agentIds,
  versionIds,
  models,
  keyIds,
  fromMs,
  toMs,
}: RandomHistory) {
  const unknown = '00000000-0000-7000-8000-0000000000ff';
  /** Mostly unset: all together would match nothing. */
  const orNull = <T>(arbitrary: fc.Arbitrary<T>, weight = 3) =>
    fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
  const crowdedMs = fromMs + 11 * 86_400_000 + 61_000_000;
  const atMs = fc.oneof(
    fc.integer({ min: fromMs - 100_000_000, max: toMs + 100_000_000 }),
    fc.integer({ min: crowdedMs - 70_000, max: crowdedMs + 130_000 }),
    fc.nat(500).map((hours) => fromMs + hours * 3_600_000),
    fc.nat(1_920).map((quarters) => fromMs + quarters * 900_000),
  );
  const id = atMs.chain((ms) =>
    fc.constantFrom(
      uuidFloor(ms),
      uuidFloor(ms).replace(/0000-0000-0{12}$/, '7123-8000-0123456789ab'),
    ),
  );
  const contents = fc.record({
    latencyMsMin: orNull(fc.nat(5_000)),
    latencyMsMax: orNull(fc.nat(5_000)),
    costUsdMin: orNull(fc.constantFrom('0.001', '0.005')),
    costUsdMax: orNull(fc.constantFrom('0.002', '0.009')),
    providerRequestId: fc.constant(null),
    labels: fc.constant([]),
    variables: fc.array(
      fc.constantFrom(
        { name: 'customer', value: 'c7' },
        { name: 'number', value: '3' },
        { name: 'x', value: '' },
      ),
      { maxLength: 2 },
    ),
    words: orNull(fc.constantFrom('tide', 'high noon', 'water -low', '"low water"')),
  });
  return fc
    .record({
      agentIds: fc.constantFrom(agentIds, agentIds.slice(0, 1), agentIds.slice(1), [], [unknown]),
      status: orNull(some([...endStatuses, 'processing' as const])),
      source: orNull(some(sources)),
      playground: fc.constantFrom(false, true, null),
      promptVersionId: orNull(some([...versionIds, unknown]), 4),
      model: orNull(some([...models, 'no/such']), 4),
      apiKeyId: orNull(some([...keyIds, unknown]), 4),
      errorCode: orNull(some(['MODEL_TIMEOUT' as const, 'CANCELED' as const]), 6),
      contents: orNull(contents, 6),
      includeProcessing: fc.boolean(),
      range: fc.oneof(
        fc.record({
          fromId: fc.oneof(fc.constant(everything.fromId), id),
          toId: fc.oneof(fc.constant(everything.toId), id),
        }),
        // A range of about two hours, which may contain no complete hour.
        fc.tuple(atMs, fc.nat(8_000_000)).map(([ms, length]) => ({
          fromId: uuidFloor(ms),
          toId: uuidFloor(ms + length),
        })),
      ),
      limit: fc.constantFrom(1, 20, 100),
      offset: fc.oneof(fc.constant(0), fc.nat(200), fc.nat(30_000)),
      after: orNull(id, 4),
    })
    .map(
      (request): ListRequest => ({
        ...request,
        ...{
          batchId: null,
          user: null,
          session: null,
          executionId: null,
          rerunOf: null,
          label: null,
        },
        // The API shows processing executions to those who ask for them, or for no status.
        includeProcessing:
          request.includeProcessing && (request.status?.includes('processing') ?? true),
        offset: request.after === null ? request.offset : 0,
      }),
    );
}

/** One or several of these values. */
function some<T>(values: readonly T[]) {
  return fc.subarray([...values], { minLength: 1, maxLength: Math.min(3, values.length) });
}

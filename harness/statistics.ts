import type { Tally } from '../src/core/history/statistics.ts';
import type { Db } from '../src/db/database.ts';
import type { Send } from '../src/db/pipeline.ts';
import type { Statement } from '../src/db/statement.ts';
import { addStatistics } from '../src/engine/complete/statistics-buckets.ts';

/** Adds tallies to the statistics without executing anything. */
export async function insertStatistics(db: Db, tallies: readonly Tally[]): Promise<void> {
  const send = (async <Input>({ text, values }: Statement<Input, unknown>, input: Input) =>
    (await db.run({ text, values: values(input) })).rows) as Send;
  await addStatistics(send, tallies);
}

/** A success with 10 input and 20 output tokens by default. */
export function tally(overrides: Partial<Tally> & Pick<Tally, 'agentId' | 'executedAtMs'>): Tally {
  return {
    status: 'success',
    source: 'api',
    promptVersionId: '00000000-0000-7000-8000-000000000011',
    model: 'cueline/echo',
    apiKeyId: null,
    errorCode: null,
    labels: null,
    recorded: true,
    inputTokens: 10,
    outputTokens: 20,
    costUsd: '0',
    costKnown: true,
    latencyMs: 100,
    ...overrides,
  };
}

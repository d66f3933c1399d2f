import type { Db } from '../src/db/database.ts';
import { retentionRound } from '../src/features/history/verbs/retention-round.ts';
import type { TestDatabase } from './database.ts';
import { testPipelines } from './pipelines.ts';

/** Runs one retention round now. */
export async function runRetentionRound(db: Db, { connection }: TestDatabase): Promise<void> {
  const pipelines = testPipelines(connection);
  try {
    await retentionRound({ db, pipelines, signal: new AbortController().signal, rest: 0 });
  } finally {
    await pipelines.close();
  }
}

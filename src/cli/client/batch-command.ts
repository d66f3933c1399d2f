import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Batch, UploadedFile } from '../../client/index.ts';
import { cleanName } from '../../core/people/name.ts';
import { CommandFailure } from './command-failure.ts';
import { print, printNotice, printText } from './print.ts';
import { showProgress } from './progress.ts';
import type { Call } from './run-call.ts';

/** `cueline batch run`: uploads a file, follows its batch and prints the results. */

export interface BatchRunOptions {
  readonly agent: string;
  readonly idempotencyKey?: string;
}

const pollMs = 500;

/** Prints the results as JSON Lines. Throws if a line did not succeed. */
export async function runBatch(
  call: Call,
  file: string,
  { agent, idempotencyKey }: BatchRunOptions,
): Promise<void> {
  const fileName = file === '-' ? '' : cleanName(basename(file), '');
  const { batchId } = await call.cueline.batches.upload(agent, await open(file), {
    idempotencyKey,
    signal: call.signal,
    ...(fileName !== '' && { fileName }),
  });
  if (process.stderr.isTTY) printNotice(`Batch ${batchId}.`);
  const batch = await follow(call, agent, batchId).catch((error: unknown) => {
    if (call.signal.aborted) printNotice(`Batch ${batchId} continues on the server.`);
    throw error;
  });
  await printResults(call, agent, batchId);
  const { total, success } = batch.counts;
  if (success === total) return;
  throw new CommandFailure(`${total - success} of ${total} lines did not succeed.`);
}

/** A file can be sent again after a failure, standard input cannot. */
async function open(file: string): Promise<UploadedFile> {
  if (file === '-') return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  try {
    return await openAsBlob(file);
  } catch (error) {
    throw new CommandFailure(`Cannot read ${file}.`, { cause: error });
  }
}

async function follow({ cueline, signal }: Call, agentId: string, batchId: string): Promise<Batch> {
  const progress = showProgress();
  let shown = 0;
  try {
    for (;;) {
      const batch = await cueline.batches.get(agentId, batchId, { signal });
      const { total, waiting, processing } = batch.counts;
      const ended = total - waiting - processing;
      progress.setTotal(total);
      progress.addRows(ended - shown);
      progress.setPhase(batch.waitingFor === null ? '' : waitingTexts[batch.waitingFor]);
      shown = ended;
      if (batch.completedAt !== null) return batch;
      await delay(pollMs, undefined, { signal });
    }
  } finally {
    progress.end();
  }
}

const waitingTexts = {
  agent_paused: 'Waiting: the agent accepts no calls.',
  quota: 'Waiting: the monthly quota is used up.',
  rate_limit: 'Waiting for a rate limit.',
  budget: 'Waiting for a budget.',
} as const;

async function printResults({ cueline, signal }: Call, agentId: string, batchId: string) {
  const decoder = new TextDecoder();
  const stream = await cueline.batches.openResults(agentId, batchId, {}, { signal });
  let last = '';
  for await (const bytes of stream) {
    const text = decoder.decode(bytes, { stream: true });
    await printText(text);
    last = text.at(-1) ?? last;
  }
  if (last !== '\n' && last !== '') await print('');
}

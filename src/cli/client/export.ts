import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { CuelineError, type ExecutionFilters } from '../../client/index.ts';
import type { Call } from './call.ts';
import { CommandFailure, OutputClosed } from './failure.ts';
import { type FilterOptions, filtersOf } from './history-filters.ts';
import { note, print } from './print.ts';
import { type Progress, showProgress } from './progress-bar.ts';
import {
  type ExportFormat,
  formatOf,
  type RecordSplitter,
  recordSplitter,
} from './record-splitter.ts';

export interface ExportOptions extends FilterOptions {
  readonly format?: ExportFormat;
  /** A file; standard output where absent. */
  readonly output?: string;
  /** Goes on after the last whole record of the file. */
  readonly resume?: true;
}

/** How often in a row it goes on after a broken connection without a record having come through. */
const triesMax = 5;
const pauseMs = 1_000;

/** The records of an agent, or of all, as one stream into a file, whatever breaks on the way. */
export async function exportHistory(
  call: Call,
  agentId: string | null,
  { output, resume, format: formatAsked, ...asked }: ExportOptions,
): Promise<void> {
  if (resume && output === undefined) throw new CommandFailure('--resume needs --output.');
  if (call.json && output === undefined && formatAsked === 'csv') {
    throw new CommandFailure('--json prints JSON alone: --format csv needs --output with it.');
  }
  const left = resume ? await formatIn(output ?? '') : null;
  if (left !== null && formatAsked !== undefined && left !== formatAsked) {
    throw new CommandFailure(`${output} holds a ${left} export, not ${formatAsked}.`);
  }
  const format = left ?? formatAsked ?? 'jsonl';
  const before = left === null ? recordSplitter(format) : await readUpTo(output ?? '', left);
  const out = await opened(output);
  const empty = resume ? async () => {} : emptier(output);
  const filters = filtersOf(asked);
  const progress = showProgress();
  try {
    progress.onPlan(await totalOf(call, agentId, filters));
    progress.onRows(before.records);
    const passed = await pass(
      { call, agentId, out, empty, progress },
      { ...filters, format },
      before,
    );
    await empty();
    await ended(out);
    if (output === undefined) return;
    if (call.json) await print(JSON.stringify({ records: passed, file: output }));
    else note(`${passed} records in ${output}.`);
  } finally {
    progress.end();
  }
}

interface Way {
  readonly call: Call;
  readonly agentId: string | null;
  readonly out: Writable;
  /** Removes what the file held before; later calls do nothing. */
  readonly empty: () => Promise<void>;
  readonly progress: Progress;
}

/** Answers how many records there are in all, those of before included. */
async function pass(
  { call, agentId, out, empty, progress }: Way,
  filters: ExecutionFilters & { readonly format: ExportFormat },
  before: RecordSplitter,
): Promise<number> {
  let cursor = before.lastId;
  let { records, headCame } = before;
  for (let tries = 1; ; ) {
    const splitter = recordSplitter(filters.format, headCame);
    try {
      const query = cursor === null ? filters : { ...filters, cursor };
      const stream = await call.cueline.openExport(agentId, query, { signal: call.signal });
      for await (const bytes of stream) {
        await empty();
        const told = splitter.records;
        await written(out, splitter.push(bytes));
        progress.onRows(splitter.records - told);
      }
      return records + splitter.records;
    } catch (error) {
      call.signal.throwIfAborted();
      records += splitter.records;
      cursor = splitter.lastId ?? cursor;
      headCame = splitter.headCame;
      if (splitter.records > 0) tries = 1;
      if (!passes(error) || tries++ >= triesMax) throw error;
      await delay(retryMs(error), undefined, { signal: call.signal });
    }
  }
}

/** Whether the same may work later: the connection broke, or the server has no room just now. */
function passes(error: unknown): boolean {
  if (error instanceof OutputClosed || error instanceof CommandFailure) return false;
  if (!(error instanceof CuelineError)) return error instanceof TypeError;
  return error.status === 0 || error.status === 429 || error.status >= 500;
}

function retryMs(error: unknown): number {
  return (error instanceof CuelineError ? error.retryAfterMs : null) ?? pauseMs;
}

/** How many there will be; as many as there have been, where only reading tells. */
async function totalOf(
  call: Call,
  agentId: string | null,
  filters: ExecutionFilters,
): Promise<number> {
  try {
    const { pagination } = await call.cueline.list(
      agentId,
      { ...filters, limit: 1 },
      { signal: call.signal },
    );
    return pagination.total;
  } catch (error) {
    if (error instanceof CuelineError && error.code === 'INVALID_REQUEST') return 0;
    throw error;
  }
}

/** What a file that was left holds; null where there is nothing in it yet. */
async function formatIn(file: string): Promise<ExportFormat | null> {
  let beginning = '';
  try {
    for await (const bytes of createReadStream(file, { end: 63 }))
      beginning += bytes.toString('latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(file, error as Error);
  }
  if (beginning === '') return null;
  const format = formatOf(beginning);
  if (format === null) throw new CommandFailure(`${file} holds no export.`);
  return format;
}

function unreadable(file: string, error: Error): CommandFailure {
  return new CommandFailure(`${file} cannot be read: ${error.message}.`, { cause: error });
}

/** Cuts off what is not a whole record, or the head, at the end of a file that was left. */
async function readUpTo(file: string, format: ExportFormat): Promise<RecordSplitter> {
  const splitter = recordSplitter(format);
  let whole = 0;
  for await (const bytes of createReadStream(file)) whole += splitter.push(bytes).length;
  await truncate(file, whole);
  return splitter;
}

/**
 * Opened before anything is asked for, since a file that cannot be written need not be filled. What it holds stays until
 * something comes in its place.
 */
async function opened(output: string | undefined): Promise<Writable> {
  if (output === undefined) return process.stdout;
  const file = createWriteStream(output, { flags: 'a' });
  try {
    await once(file, 'open');
  } catch (error) {
    throw outputFailure(file, error as Error);
  }
  // Each write hears of its own failure.
  return file.on('error', () => {});
}

function emptier(output: string | undefined): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= output === undefined ? Promise.resolve() : emptied(output);
    return done;
  };
}

/** A pipe or a device holds nothing. */
async function emptied(file: string): Promise<void> {
  if ((await stat(file)).isFile()) await truncate(file);
}

function written(out: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(outputFailure(out, error));
    out.once('error', fail);
    out.write(bytes, (error) => {
      if (error) return fail(error);
      out.off('error', fail);
      resolve();
    });
  });
}

async function ended(out: Writable): Promise<void> {
  if (out === process.stdout) return;
  await new Promise<void>((resolve, reject) => {
    out.once('error', reject).end(resolve);
  });
}

function outputFailure(out: Writable, error: Error): CommandFailure {
  if (out === process.stdout) return new OutputClosed(error);
  return new CommandFailure(`The file cannot be written: ${error.message}.`, { cause: error });
}

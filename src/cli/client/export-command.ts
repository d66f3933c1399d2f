import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { CuelineError, type ExecutionFilters, type ExportFilters } from '../../client/index.ts';
import { CommandFailure, OutputClosed } from './command-failure.ts';
import { type FilterOptions, filtersOf } from './history-filters.ts';
import { print, printNotice } from './print.ts';
import { type Progress, showProgress } from './progress.ts';
import {
  type ExportFormat,
  formatOf,
  type RecordSplitter,
  recordSplitter,
} from './record-splitter.ts';
import type { Call } from './run-call.ts';

export interface ExportOptions extends FilterOptions {
  readonly format?: ExportFormat;
  /** CSV for spreadsheets. */
  readonly bom?: true;
  /** A file. Default: standard output. */
  readonly output?: string;
  /** Continues after the last complete record of the file. */
  readonly resume?: true;
}

/** Maximum consecutive attempts without a new record. */
const attemptsMax = 5;
const pauseMs = 1_000;

/**
 * Exports the records of one agent or of all agents to a file or to standard output. Continues
 * after a broken connection.
 */
export async function exportHistory(
  call: Call,
  agentId: string | null = null,
  { output, resume, format: requestedFormat, bom: requestedBom, ...filterOptions }: ExportOptions,
): Promise<void> {
  if (resume && output === undefined) throw new CommandFailure('--resume requires --output.');
  if (call.json && output === undefined && requestedFormat === 'csv') {
    throw new CommandFailure('--json prints only JSON: --format csv also requires --output.');
  }
  const existing = resume ? await detectForm(output ?? '') : null;
  const form = chooseForm(existing, { format: requestedFormat, bom: requestedBom }, output ?? '');
  const { format } = form;
  const previous =
    existing === null ? recordSplitter(format) : await repairFile(output ?? '', format);
  const out = await openOutput(output);
  const truncateOutput = resume ? async () => {} : truncateOnce(output);
  const filters = filtersOf(filterOptions);
  const progress = showProgress();
  try {
    progress.setTotal(await totalOf(call, agentId, filters));
    progress.addRows(previous.records);
    const total = await streamRecords(
      { call, agentId, out, truncateOutput, progress },
      { ...filters, ...form },
      previous,
    );
    await truncateOutput();
    await closeOutput(out);
    if (output === undefined) return;
    if (call.json) await print(JSON.stringify({ records: total, file: output }));
    else printNotice(`Exported ${total} records to ${output}.`);
  } finally {
    progress.end();
  }
}

interface ExportRun {
  readonly call: Call;
  readonly agentId: string | null;
  readonly out: Writable;
  /** Removes the previous content of the file. Idempotent. */
  readonly truncateOutput: () => Promise<void>;
  readonly progress: Progress;
}

/** Returns the total number of records, including those from before a resume. */
async function streamRecords(
  { call, agentId, out, truncateOutput, progress }: ExportRun,
  filters: ExportFilters & { readonly format: ExportFormat },
  previous: RecordSplitter,
): Promise<number> {
  let cursor = previous.lastId;
  let { records, hasHeader } = previous;
  for (let attempts = 1; ; ) {
    const splitter = recordSplitter(filters.format, hasHeader);
    try {
      const query = cursor === null ? filters : { ...filters, cursor };
      const stream = await call.cueline.openExport(agentId, query, { signal: call.signal });
      for await (const bytes of stream) {
        await truncateOutput();
        const recordsBefore = splitter.records;
        await writeBytes(out, splitter.push(bytes));
        progress.addRows(splitter.records - recordsBefore);
      }
      return records + splitter.records;
    } catch (error) {
      call.signal.throwIfAborted();
      records += splitter.records;
      cursor = splitter.lastId ?? cursor;
      hasHeader = splitter.hasHeader;
      if (splitter.records > 0) attempts = 1;
      if (!isTransient(error) || attempts++ >= attemptsMax) throw error;
      await delay(retryMs(error), undefined, { signal: call.signal });
    }
  }
}

/** Whether a retry can succeed: the connection broke, or the server is temporarily unavailable. */
function isTransient(error: unknown): boolean {
  if (error instanceof OutputClosed || error instanceof CommandFailure) return false;
  if (!(error instanceof CuelineError)) return error instanceof TypeError;
  return error.status === 0 || error.status === 429 || error.status >= 500;
}

function retryMs(error: unknown): number {
  return (error instanceof CuelineError ? error.retryAfterMs : null) ?? pauseMs;
}

/**
 * Number of matching records for the progress bar. 0 if the server cannot count them without
 * reading.
 */
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

/** What an export consists of. `bom` is present only if true. */
interface ExportForm {
  readonly format: ExportFormat;
  readonly bom?: true;
}

/** The form of the existing file, which must be the requested one, or else the requested form. */
function chooseForm(
  existing: ExportForm | null,
  requested: Partial<ExportForm>,
  file: string,
): ExportForm {
  const { format = existing?.format ?? 'jsonl', bom = existing?.bom } = requested;
  if (existing !== null && format !== existing.format) {
    throw new CommandFailure(`${file} contains a ${existing.format} export, not ${format}.`);
  }
  if (bom && format !== 'csv') throw new CommandFailure('--bom requires --format csv.');
  if (existing !== null && bom !== existing.bom) {
    throw new CommandFailure(`${file} begins without a byte order mark: resume it without --bom.`);
  }
  return { format, ...(bom && { bom }) };
}

/** A byte order mark in UTF-8, decoded as Latin-1. */
const byteOrderMark = '\u00ef\u00bb\u00bf';

/** Form of the existing file. `null` if it is empty or missing. */
async function detectForm(file: string): Promise<ExportForm | null> {
  let start = '';
  try {
    for await (const bytes of createReadStream(file, { end: 63 }))
      start += bytes.toString('latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(file, error as Error);
  }
  if (start === '') return null;
  const bom = start.startsWith(byteOrderMark);
  const rest = bom ? start.slice(byteOrderMark.length) : start;
  const format = rest === '' ? 'csv' : formatOf(rest);
  if (format === null) throw new CommandFailure(`${file} is not an export.`);
  return { format, ...(bom && { bom }) };
}

function unreadable(file: string, error: Error): CommandFailure {
  return new CommandFailure(`Cannot read ${file}: ${error.message}.`, { cause: error });
}

/** Removes an incomplete record or header at the end of the file. */
async function repairFile(file: string, format: ExportFormat): Promise<RecordSplitter> {
  const splitter = recordSplitter(format);
  let completeBytes = 0;
  for await (const bytes of createReadStream(file)) completeBytes += splitter.push(bytes).length;
  await truncate(file, completeBytes);
  return splitter;
}

/**
 * Opens the output before the first request, so that an unwritable file fails early. The previous
 * content stays until the first data arrives.
 */
async function openOutput(output: string | undefined): Promise<Writable> {
  if (output === undefined) return process.stdout;
  const file = createWriteStream(output, { flags: 'a' });
  try {
    await once(file, 'open');
  } catch (error) {
    throw outputFailure(file, error as Error);
  }
  // Each write handles its own error.
  return file.on('error', () => {});
}

function truncateOnce(output: string | undefined): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= output === undefined ? Promise.resolve() : truncateFile(output);
    return done;
  };
}

/** Pipes and devices cannot be truncated. */
async function truncateFile(file: string): Promise<void> {
  if ((await stat(file)).isFile()) await truncate(file);
}

function writeBytes(out: Writable, bytes: Uint8Array): Promise<void> {
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

async function closeOutput(out: Writable): Promise<void> {
  if (out === process.stdout) return;
  await new Promise<void>((resolve, reject) => {
    out.once('error', reject).end(resolve);
  });
}

function outputFailure(out: Writable, error: Error): CommandFailure {
  if (out === process.stdout) return new OutputClosed(error);
  return new CommandFailure(`Cannot write the file: ${error.message}.`, { cause: error });
}

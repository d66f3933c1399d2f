import { join } from 'node:path';
import { inherited } from '../harness/environment.ts';
import type { CuelineProcess } from '../harness/process.ts';
import { type Answer, type Call, execute } from './calls.ts';
import type { ProofEnvironment } from './environment.ts';

/** API processes, most with a clock that is an hour off, and clients that call them. */

const hourMs = 3_600_000;
const clockOffsetsMs = [hourMs, -hourMs, 0, hourMs];
const shiftedDate = join(import.meta.dirname, 'shifted-date.ts');

export function spawnApis(
  environment: ProofEnvironment,
  count: number,
  env: Record<string, string> = {},
): Promise<CuelineProcess[]> {
  const offsets = Array.from({ length: count }, (_, index) => clockOffsetsMs[index % 4] ?? 0);
  return Promise.all(
    offsets.map((offsetMs) =>
      environment.spawn('api', {
        NODE_OPTIONS: `${inherited().NODE_OPTIONS ?? ''} --import ${shiftedDate}`,
        CUELINE_CLOCK_OFFSET_MS: String(offsetMs),
        ...env,
      }),
    ),
  );
}

export interface Answered<P> {
  readonly planned: P;
  readonly answer: Answer;
  /** The last known time of the database before the call was sent. */
  readonly notBeforeMs: number;
}

export interface SendOptions<P> {
  readonly apis: readonly CuelineProcess[];
  /** Concurrent clients per process. */
  readonly clients: number;
  readonly calls: readonly P[];
  /** The time of the database now; `before` runs before each call and may return a later time. */
  readonly nowMs: number;
  readonly before?: (index: number) => Promise<number | undefined>;
}

/** Each client sends the next call after the response to its last one. */
export async function sendAll<P extends { readonly call: Call }>(
  options: SendOptions<P>,
): Promise<Answered<P>[]> {
  const answered: Answered<P>[] = [];
  let next = 0;
  let nowMs = options.nowMs;

  async function client(url: string): Promise<void> {
    for (;;) {
      const index = next++;
      const planned = options.calls[index];
      if (planned === undefined) return;
      nowMs = (await options.before?.(index)) ?? nowMs;
      const notBeforeMs = nowMs;
      answered.push({ planned, answer: await execute(url, planned.call), notBeforeMs });
    }
  }

  await Promise.all(
    options.apis.flatMap(({ url }) => Array.from({ length: options.clients }, () => client(url))),
  );
  return answered;
}

import { join } from 'node:path';
import type { CuelineProcess } from '../harness/process.ts';
import { type Answer, type Call, execute } from './calls.ts';
import type { Ground } from './ground.ts';

/** API processes side by side, the clocks of most of them an hour wrong, and the clients that call them. */

const hourMs = 3_600_000;
const clocksOffMs = [hourMs, -hourMs, 0, hourMs];
const shiftedDate = join(import.meta.dirname, 'shifted-date.ts');

export function spawnCrew(
  ground: Ground,
  count: number,
  env: Record<string, string> = {},
): Promise<CuelineProcess[]> {
  const offs = Array.from({ length: count }, (_, index) => clocksOffMs[index % 4] ?? 0);
  return Promise.all(
    offs.map((offMs) =>
      ground.spawn('api', {
        NODE_OPTIONS: `--import ${shiftedDate}`,
        CUELINE_CLOCK_OFF_MS: String(offMs),
        ...env,
      }),
    ),
  );
}

export interface Answered<P> {
  readonly planned: P;
  readonly answer: Answer;
  /** What the database took the time to be before the call was sent; the later of what was known. */
  readonly notBeforeMs: number;
}

export interface SendOptions<P> {
  readonly crew: readonly CuelineProcess[];
  /** Of each process, all at once. */
  readonly clients: number;
  readonly calls: readonly P[];
  /** The database's time now, and after what is done before a call, while others are under way. */
  readonly nowMs: number;
  readonly before?: (index: number) => Promise<number | undefined>;
}

/** Each client sends one call after the other, of those that are left. */
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
    options.crew.flatMap(({ url }) => Array.from({ length: options.clients }, () => client(url))),
  );
  return answered;
}

import type { CuelineProcess } from '../harness/process.ts';
import type { ProofEnvironment } from './environment.ts';
import { memberName } from './journal.ts';

/**
 * Processes that are killed, paused and replaced. Each is identified by the path of its model calls and by the
 * `application_name` of its database connections.
 */

export interface Member {
  readonly number: number;
  readonly role: 'start' | 'api' | 'worker';
  /** Null until it is ready. */
  process: CuelineProcess | null;
  /** By the monotonic clock, right before the signal. */
  killedMs: number | null;
  /** By the wall clock. */
  readonly stops: Stop[];
}

/** From SIGSTOP to SIGCONT; `toMs` is null until then. */
export interface Stop {
  readonly fromMs: number;
  toMs: number | null;
}

/** One model call of an execution. */
export interface RecordedCall {
  /** The output of a model `numbered-…`. */
  readonly number: number;
  readonly member: Member;
  /** By the monotonic clock. */
  readonly atMs: number;
  /** By the wall clock, which the database shares. */
  readonly epochMs: number;
  /** The caller aborted the call before the response. */
  readonly givenUp: boolean;
}

export interface ProcessPool {
  /** The members that are ready and not killed, oldest first. */
  up(...roles: Member['role'][]): Member[];
  start(role: Member['role']): Promise<Member>;
  /** Starts missing processes of that role in the background; `failed` lists those that did not start. */
  fill(role: Member['role'], count: number): void;
  failed(): string[];
  kill(member: Member): Promise<void>;
  /** SIGSTOP, until it is resumed. */
  stop(member: Member): void;
  resume(member: Member): void;
  /** The calls of every prompt in order of arrival, of all members ever started. */
  calls(): Map<string, RecordedCall[]>;
  /** The number and the prompt of this member's latest call to this model. */
  latest(member: Member, model: string): { number: number; prompt: string } | null;
  /** Waits for background starts. */
  settled(): Promise<void>;
}

export function createProcessPool(environment: ProofEnvironment): ProcessPool {
  const members: Member[] = [];
  const failures: string[] = [];
  const starts = new Map<Promise<unknown>, Member['role']>();
  let numbers = 0;
  const base = new URL(environment.provider.url);

  async function start(role: Member['role']): Promise<Member> {
    const number = numbers++;
    // Registered first: the process may work before it reports that it is ready.
    const member: Member = { number, role, process: null, killedMs: null, stops: [] };
    members.push(member);
    const env = {
      CUELINE_LEASE_MS: String(environment.leaseMs),
      OLLAMA_BASE_URL: `${base.origin}/${memberName(number)}${base.pathname}`,
    };
    const connection = { ...environment.connection, application_name: memberName(number) };
    member.process = await environment.spawn(role, env, connection);
    return member;
  }

  const up = (...roles: Member['role'][]) =>
    members.filter(
      ({ role, process, killedMs }) => process && killedMs === null && roles.includes(role),
    );

  return {
    start,
    up,
    fill(role, count) {
      const starting = [...starts.values()].filter((one) => one === role).length;
      for (let missing = count - up(role).length - starting; missing > 0; missing--) {
        const started = start(role)
          .catch((error: Error) => failures.push(`a process did not start: ${error.message}`))
          .finally(() => starts.delete(started));
        starts.set(started, role);
      }
    },
    failed: () => failures,
    async kill(member) {
      member.killedMs = performance.now();
      await member.process?.kill('SIGKILL');
    },
    stop(member) {
      member.stops.push({ fromMs: Date.now(), toMs: null });
      member.process?.child.kill('SIGSTOP');
    },
    resume(member) {
      const stop = member.stops.at(-1);
      if (stop) stop.toMs = Date.now();
      member.process?.child.kill('SIGCONT');
    },
    calls() {
      const byName = new Map(members.map((member) => [memberName(member.number), member]));
      const byPrompt = new Map<string, RecordedCall[]>();
      for (const [index, call] of environment.provider.calls.entries()) {
        const { path, body, atMs, epochMs, givenUp } = call;
        const member = byName.get(path.split('/')[1] ?? '');
        if (!member) continue;
        const prompt = promptOf(body);
        const calls = byPrompt.get(prompt) ?? [];
        byPrompt.set(prompt, calls);
        calls.push({ number: index + 1, member, atMs, epochMs, givenUp });
      }
      return byPrompt;
    },
    latest(member, model) {
      const { calls } = environment.provider;
      const path = `/${memberName(member.number)}/`;
      const index = calls.findLastIndex(
        (call) => call.model === model && call.path.startsWith(path),
      );
      return index < 0 ? null : { number: index + 1, prompt: promptOf(calls[index]?.body) };
    },
    async settled() {
      await Promise.all(starts.keys());
    },
  };
}

function promptOf(body: { messages?: { content?: unknown }[] } | undefined): string {
  return String(body?.messages?.at(-1)?.content);
}

import type { CuelineProcess } from '../harness/process.ts';
import type { Ground } from './ground.ts';
import { memberName } from './journal.ts';

/**
 * Processes that are killed, stopped and replaced; the provider is told in the path of each call who makes it, and the
 * database by each connection.
 */

export interface Member {
  readonly number: number;
  readonly role: 'start' | 'api' | 'worker';
  /** Null until it is up. */
  process: CuelineProcess | null;
  /** By the monotonic clock, right before the signal was sent. */
  killedMs: number | null;
  /** By the wall clock. */
  readonly stops: Stop[];
}

/** From SIGSTOP to SIGCONT; `toMs` is null until then. */
export interface Stop {
  readonly fromMs: number;
  toMs: number | null;
}

/** One call of the model for a run. */
export interface RunCall {
  /** What a model `numbered-…` answers it with. */
  readonly number: number;
  readonly member: Member;
  /** By the monotonic clock. */
  readonly atMs: number;
  /** By the wall clock, which is the database's as well. */
  readonly epochMs: number;
  /** Whoever made it hung up before it was answered. */
  readonly givenUp: boolean;
}

export interface Fleet {
  readonly members: readonly Member[];
  /** Those that are up and have not been killed, oldest first. */
  up(...roles: Member['role'][]): Member[];
  start(role: Member['role']): Promise<Member>;
  /**
   * Starts in the background as many as are missing of that role; `failed` says it where one of them did not come up.
   */
  fill(role: Member['role'], count: number): void;
  failed(): string[];
  kill(member: Member): Promise<void>;
  /** SIGSTOP, until it is resumed. */
  stop(member: Member): void;
  resume(member: Member): void;
  /** Every prompt's calls in the order in which they came, from all members that ever were. */
  calls(): Map<string, RunCall[]>;
  /** The latest call that this member has made of this model: its number, and the prompt. */
  latest(member: Member, model: string): { number: number; prompt: string } | null;
  /** Waits for what starts in the background. */
  settled(): Promise<void>;
}

export function openFleet(ground: Ground): Fleet {
  const members: Member[] = [];
  const failures: string[] = [];
  const starts = new Map<Promise<unknown>, Member['role']>();
  let numbers = 0;
  const base = new URL(ground.provider.url);

  async function start(role: Member['role']): Promise<Member> {
    const number = numbers++;
    // It may work before it has said that it is up.
    const member: Member = { number, role, process: null, killedMs: null, stops: [] };
    members.push(member);
    const env = {
      CUELINE_LEASE_MS: String(ground.leaseMs),
      OLLAMA_BASE_URL: `${base.origin}/${memberName(number)}${base.pathname}`,
    };
    const connection = { ...ground.connection, application_name: memberName(number) };
    member.process = await ground.spawn(role, env, connection);
    return member;
  }

  const up = (...roles: Member['role'][]) =>
    members.filter(
      ({ role, process, killedMs }) => process && killedMs === null && roles.includes(role),
    );

  return {
    members,
    start,
    up,
    fill(role, count) {
      const starting = [...starts.values()].filter((one) => one === role).length;
      for (let missing = count - up(role).length - starting; missing > 0; missing--) {
        const started = start(role)
          .catch((error: Error) => failures.push(`a process did not come up: ${error.message}`))
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
      const byPrompt = new Map<string, RunCall[]>();
      for (const [index, call] of ground.provider.calls.entries()) {
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
      const { calls } = ground.provider;
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

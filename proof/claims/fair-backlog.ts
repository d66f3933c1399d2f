import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { addWorkspace } from '../../test/harness/people.ts';
import { addBacklog, redirectBacklog } from '../backlog.ts';
import type { Claim } from '../claim.ts';
import type { Ground } from '../ground.ts';
import { startLoad } from '../load.ts';

/**
 * A round is the next run of each of three other workspaces while one has a backlog, first of short runs and then of
 * runs that hold every slot open to it; and with the short ones also a burst of one other workspace.
 */

const workers = 2;
const slots = 16;
const others = 3;
/** So many that the slots which are kept for others would not do for them while the backlog is served first. */
const burst = 60;
const short = 'ollama/after-100';
/** Longer than the first round with them takes on a machine that is slow. */
const longMs = 20_000;
const long = `ollama/after-${longMs}`;
const goalMs = 1_000;
const patienceMs = 30_000;

interface Other {
  call(count: number): Promise<Started>;
}

/** From the first 202 on: how long until each call reached the provider, and what of the backlog did meanwhile. */
interface Started {
  readonly samplesMs: readonly number[];
  readonly ofBacklog: number;
  readonly missing: number;
}

export const fairBacklog: Claim = {
  name: 'fair-backlog',
  says: 'one agent with 100,000 queued runs does not delay another workspace’s next run by more than a second',
  rounds: { test: 1, short: 10, full: 100 },
  roundsPerGround: 100,
  faults: [
    {
      name: 'first-come',
      says: 'who comes first is served first, whoever else it is that waits',
      file: 'flow/admission-book.ts',
      find: 'state.floor ?? clockTag(nowMs)',
      replace: 'clockTag(nowMs)',
    },
    {
      name: 'no-reserve',
      says: 'every slot is open to everyone',
      file: 'worker/slots.ts',
      find: 'const reserved = Math.max(1, Math.floor(total / 8));',
      replace: 'const reserved = 0;',
    },
  ],
  async prove(ground, rounds) {
    const backlog = rounds === 1 ? 1_000 : 100_000;
    const violations: string[] = [];
    const api = await ground.spawn('api');
    const big = await ground.agent({ model: short });
    const { key } = await ground.key();
    const first = startLoad({
      ...{ urls: () => [api.url], key, agents: [big] },
      ...{ clients: 1, callsMax: 1 },
    });
    await first.done;
    await addBacklog(ground.db, first.accepted()[0] ?? '', backlog - 1);
    const all = await Promise.all(Array.from({ length: others }, () => addOther(ground, api.url)));
    const env = { CUELINE_SLOTS: String(slots), CUELINE_LEASE_MS: '6000' };
    await Promise.all(Array.from({ length: workers }, () => ground.spawn('worker', env)));

    const samplesMs = { short: [] as number[], long: [] as number[] };
    const next = async (kind: keyof typeof samplesMs) => {
      const started = await Promise.all(all.map((other) => other.call(1)));
      const missing = started.filter((one) => one.missing > 0).length;
      if (missing > 0) violations.push(`${missing} runs did not start beside ${kind} runs`);
      samplesMs[kind].push(...started.flatMap((one) => one.samplesMs));
    };
    await called(ground, short, openSlots());
    for (let round = 0; round < rounds; round++) {
      const { ofBacklog, missing } = (await all[0]?.call(burst)) ?? { ofBacklog: 0, missing: 0 };
      // In fairness one of the backlog for each of the burst, and what is on its way anyway.
      const most = 2 * (burst + workers * slots);
      if (missing > 0 || ofBacklog > most) {
        violations.push(
          `${ofBacklog} of the backlog were called before ${burst} of another, ${missing} of which were not`,
        );
      }
      await next('short');
    }
    await redirectBacklog(ground.db, big.id, long);
    await called(ground, long, openSlots());
    for (let round = 0; round < rounds; round++) {
      await next('long');
      // Later ones end by and by anyway.
      const ended = answered(ground);
      if (round === 0 && ended >= others)
        violations.push(`${ended} long runs had to end for others’ to start`);
    }
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from run_queue where agent_id = ${big.id}`.execute(ground.db);
    const left = rows[0]?.n ?? 0;
    if (left === 0)
      violations.push('of the backlog nothing was left: there was nothing to be fair against');
    return {
      counts: { backlog, 'left of it': left, 'workspaces beside it': others },
      samplesMs: {
        'accepted to called, beside short runs': samplesMs.short,
        'accepted to called, beside long runs': samplesMs.long,
      },
      violations,
    };
  },
  judge({ samplesMs = {} }) {
    return Object.entries(samplesMs)
      .map(([kind, samples]) => ({ kind, late: samples.filter((ms) => ms > goalMs) }))
      .filter(({ late }) => late.length > 0)
      .map(({ kind, late }) => `${late.length} runs started more than ${goalMs} ms late (${kind})`);
  },
};

/** The slots that the workspace with the backlog may hold. */
function openSlots(): number {
  return workers * (slots - Math.max(1, Math.floor(slots / 8)));
}

/** Waits until that many calls to the model have reached the provider. */
async function called(ground: Ground, model: string, count: number): Promise<void> {
  const name = model.slice('ollama/'.length);
  while (ground.provider.calls.filter((call) => call.model === name).length < count) await wait(5);
}

/**
 * How many long runs can have ended. Records do not tell: a run that was claimed while it was being redirected is
 * recorded as a long one, and was called as a short one.
 */
function answered(ground: Ground): number {
  const before = performance.now() - longMs;
  return ground.provider.calls.filter(
    (call) => `ollama/${call.model}` === long && call.atMs < before,
  ).length;
}

async function addOther(ground: Ground, url: string): Promise<Other> {
  const { workspaceId, ownerId: userId } = await addWorkspace(ground.db);
  const { key } = await ground.key({ workspaceId, userId });
  // The model's name tells its calls from all others.
  const name = `of-${workspaceId}`;
  const agent = await ground.agent({ model: `ollama/${name}`, workspaceId, createdBy: userId });
  return {
    async call(count) {
      const { calls } = ground.provider;
      const load = startLoad({
        ...{ urls: () => [url], key, agents: [agent] },
        ...{ clients: count, callsMax: count },
      });
      const mineBefore = calls.filter((one) => one.model === name).length;
      await load.done;
      const accepted = load.sent.filter(({ outcome }) => outcome.kind === 'accepted');
      const from = calls.length;
      const until = performance.now() + patienceMs;
      const mine = () => calls.filter((one) => one.model === name).slice(mineBefore);
      while (mine().length < accepted.length && performance.now() < until) await wait(2);
      const arrived = mine();
      const ofBacklog = calls.slice(from).filter(({ model }) => !model.startsWith('of-')).length;
      const samplesMs = arrived.map(({ atMs }, n) =>
        Math.max(0, atMs - (accepted[n]?.answeredMs ?? atMs)),
      );
      return { samplesMs, ofBacklog, missing: count - arrived.length };
    },
  };
}

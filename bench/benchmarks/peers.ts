import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import type { Contender } from '../contenders/contender.ts';
import { cueline } from '../contenders/cueline.ts';
import { asDocumented, batched, installPeers, langGraph } from '../contenders/peers.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { finishAll } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { type Table, throughput } from '../table.ts';

const own = 'Cueline, `start`';
/** What takes minutes for what the others do in seconds gets fewer requests, which makes it look no worse. */
const slowShare = 1 / 20;

export const peers: Benchmark = {
  name: 'peers',
  description:
    'Finished runs per second, as in `end-to-end`, against job queues behind an equally small endpoint and against an ' +
    'agent server. First as their documents say to run them; then with our micro-batches added to them and the output ' +
    'stored by each. They check no key, no limit and no quota, and keep no history; Cueline does.',
  goal: 'at least 1.5 of the best as documented, aim 2; and below none of those with micro-batches',
  goalChecks: (tables) => {
    const ofBest = tables.map((table) => 1 / Math.max(...figures(table, 2, own)));
    return [
      { what: 'of the best as documented', unit: '×', value: ofBest[0] ?? 0, least: 1.5 },
      { what: 'of the best with micro-batches', unit: '×', value: ofBest[1] ?? 0, least: 1 },
    ];
  },
  byDefault: true,
  async run(environment, how) {
    installPeers(how.note);
    return [
      await against(environment, how, [...asDocumented, langGraph], 'As their documents say'),
      await against(environment, how, batched, 'With our micro-batching, and the output stored'),
    ];
  },
};

async function against(
  environment: BenchEnvironment,
  { rounds, requests, connections }: BenchmarkOptions,
  others: readonly Contender[],
  title: string,
): Promise<Table> {
  const missing: string[] = [];
  const present: Contender[] = [];
  for (const one of others) {
    const why = await one.missing?.();
    if (why) missing.push(`${one.name}: not measured, ${why}.`);
    else present.push(one);
  }
  const cuelineItself = cueline({ name: own, roles: ['start'] });
  const entries = [cuelineItself, ...present].map((contender) => ({
    contender,
    measure: (opened: Parameters<typeof finishAll>[1]) =>
      finishAll(environment, opened, {
        connections,
        requests: contender === langGraph ? Math.ceil(requests * slowShare) : requests,
      }),
  }));
  const series = await inAlternation(environment, entries, rounds);
  return { title, ...throughput(series, 'finished'), notes: missing };
}

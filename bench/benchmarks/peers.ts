import type { Benchmark, BenchmarkOptions } from '../benchmark.ts';
import type { Contender, Opened } from '../contenders/contender.ts';
import { cueline } from '../contenders/cueline.ts';
import { asDocumented, batched, installPeers, langGraph } from '../contenders/peers.ts';
import type { BenchEnvironment } from '../environment.ts';
import { figures } from '../goals.ts';
import { finishAll } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { type Table, throughput } from '../table.ts';

const own = 'Cueline, `start`';
/** LangGraph is so slow that it gets fewer requests, which does not lower its rate. */
const slowShare = 1 / 20;

export const peers: Benchmark = {
  name: 'peers',
  description:
    'Ended executions per second, as in `end-to-end`, compared with job queues behind an equally small endpoint and with ' +
    'an agent server. First as documented; then with our micro-batches, and each stores the output. They check no key, ' +
    'limit or quota and store no history; Cueline does.',
  goal: 'at least 1.5 of the best as documented, target 2; and at least the best with micro-batches',
  goalChecks: (tables) => {
    const ofBest = tables.map((table) => 1 / Math.max(...figures(table, 2, own)));
    return [
      { what: 'of the best as documented', unit: '×', value: ofBest[0] ?? 0, least: 1.5 },
      { what: 'of the best with micro-batches', unit: '×', value: ofBest[1] ?? 0, least: 1 },
    ];
  },
  byDefault: true,
  async run(environment, options) {
    installPeers(options.note);
    return [
      await compare(environment, options, [...asDocumented, langGraph], 'As documented'),
      await compare(environment, options, batched, 'With our micro-batches and stored output'),
    ];
  },
};

async function compare(
  environment: BenchEnvironment,
  { rounds, requests, connections }: BenchmarkOptions,
  others: readonly Contender[],
  title: string,
): Promise<Table> {
  const missing: string[] = [];
  const present: Contender[] = [];
  for (const one of others) {
    const reason = await one.missing?.();
    if (reason) missing.push(`${one.name}: not measured, ${reason}.`);
    else present.push(one);
  }
  const entries = [cueline({ name: own, roles: ['start'] }), ...present].map((contender) => ({
    contender,
    measure: (opened: Opened) =>
      finishAll(environment, opened, {
        connections,
        requests: contender === langGraph ? Math.ceil(requests * slowShare) : requests,
      }),
  }));
  const series = await inAlternation(environment, entries, rounds);
  return { title, ...throughput(series, 'finished'), notes: missing };
}

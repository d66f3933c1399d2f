import type { BenchEnvironment } from '../environment.ts';
import type { Target } from '../load/job.ts';
import { type Exchange, send } from './bare.ts';
import type { Contender } from './contender.ts';
import { type OpenedCueline, openCueline, postgresDurability } from './cueline.ts';

/** Cueline as shipped, polled for the status of an ended execution. */
export const polled: Contender = {
  name: 'Cueline, `start`',
  durability: postgresDurability,
  async open(environment) {
    const opened = await openCueline(environment, { name: 'polled', roles: ['start'] });
    return { ...opened, target: await endedExecution(opened), reset: async () => {} };
  },
};

export async function pollExchange(environment: BenchEnvironment): Promise<Exchange> {
  const opened = await openCueline(environment, { name: 'recorded', roles: ['start'] });
  const target = await endedExecution(opened);
  const exchange = { target, answer: await send(target) };
  await opened.close();
  return exchange;
}

/** The status request of an ended execution. */
async function endedExecution({ target }: OpenedCueline): Promise<Target> {
  const { statusUrl } = JSON.parse((await send(target)).body) as { statusUrl: string };
  const poll = { ...target, method: 'GET', body: '' } as const;
  const { status } = JSON.parse((await send({ ...poll, path: `${statusUrl}?wait=30` })).body);
  if (status !== 'success') throw new Error(`the polled execution is ${status}`);
  return { ...poll, path: statusUrl };
}

import type { Bed } from '../bed.ts';
import type { Target } from '../load/job.ts';
import { type Exchange, send } from './bare.ts';
import type { Contender } from './contender.ts';
import { type OpenedCueline, openCueline, postgresDurability } from './cueline.ts';

/** Cueline as it is shipped, asked for the status of a run that has ended. */
export const polled: Contender = {
  name: 'Cueline, `start`',
  durability: postgresDurability,
  async open(bed) {
    const opened = await openCueline(bed, { name: 'polled', roles: ['start'] });
    return { ...opened, target: await endedExecution(opened), reset: async () => {} };
  },
};

export async function pollExchange(bed: Bed): Promise<Exchange> {
  const opened = await openCueline(bed, { name: 'to be copied', roles: ['start'] });
  const target = await endedExecution(opened);
  const exchange = { target, answer: await send(target) };
  await opened.close();
  return exchange;
}

/** What to ask for the status of a run with. */
async function endedExecution({ target }: OpenedCueline): Promise<Target> {
  const { statusUrl } = JSON.parse((await send(target)).body) as { statusUrl: string };
  const poll = { ...target, method: 'GET', body: '' } as const;
  const { status } = JSON.parse((await send({ ...poll, path: `${statusUrl}?wait=30` })).body);
  if (status !== 'success') throw new Error(`the run that is asked for is ${status}`);
  return { ...poll, path: statusUrl };
}

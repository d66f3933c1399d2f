import type { Benchmark } from '../benchmark.ts';
import { cueline } from '../contenders/cueline.ts';
import { workflow } from '../contenders/workflow.ts';
import { figure } from '../goals.ts';
import { finishAll } from '../measure.ts';
import { inAlternation } from '../rounds.ts';
import { throughput } from '../table.ts';

const steps = 10;

export const workflowSteps: Benchmark = {
  name: 'workflow-steps',
  description:
    'Finished runs per second on a model that answers at once (`cueline/echo`), in one process that serves and works: ' +
    `called one by one, and as steps of workflows of ${steps} steps, each referring to the output of the one before ` +
    '(a chain), or all beside each other and one that joins them. What a step costs stands in the statistics and the ' +
    'history as it does for a call.',
  goal: 'at least 0.8 of plain executions',
  goalChecks: ([table]) =>
    ['a chain', 'beside each other'].map((what) => ({
      ...{ what, value: figure(table, what, 2), least: 0.8 },
    })),
  byDefault: true,
  async run(environment, { rounds, requests, connections }) {
    const whole = Math.ceil(requests / steps) * steps;
    const all = { connections, requests: whole };
    const series = await inAlternation(
      environment,
      [
        {
          contender: cueline({ name: 'plain executions', roles: ['start'] }),
          measure: (opened) => finishAll(environment, opened, all),
        },
        {
          contender: workflow({ name: 'a chain', shape: 'chain', steps }),
          measure: (opened) => finishAll(environment, opened, { ...all, each: steps }),
        },
        {
          contender: workflow({ name: 'beside each other', shape: 'join', steps }),
          measure: (opened) => finishAll(environment, opened, { ...all, each: steps }),
        },
      ],
      rounds,
    );
    return [throughput(series, 'finished')];
  },
};

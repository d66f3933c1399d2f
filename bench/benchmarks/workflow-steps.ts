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
    'Ended executions per second with a model that responds immediately (`cueline/echo`), in one process with both roles: ' +
    `plain executions, and workflows of ${steps} steps. In a chain each step uses the output of the previous one; in ` +
    'parallel one step joins the others. Steps have the same records and statistics as plain executions.',
  goal: 'at least 0.8 of plain executions',
  goalChecks: ([table]) =>
    ['chain', 'parallel'].map((what) => ({ what, value: figure(table, what, 2), least: 0.8 })),
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
          contender: workflow({ name: 'chain', shape: 'chain', steps }),
          measure: (opened) => finishAll(environment, opened, { ...all, each: steps }),
        },
        {
          contender: workflow({ name: 'parallel', shape: 'join', steps }),
          measure: (opened) => finishAll(environment, opened, { ...all, each: steps }),
        },
      ],
      rounds,
    );
    return [throughput(series, 'finished')];
  },
};

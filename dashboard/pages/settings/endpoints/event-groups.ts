import type { EventEndpoint } from '../../../../src/client/index.ts';

export type EventType = EventEndpoint['eventTypes'][number];

/** Who subscribes to these is notified of alerts. */
export const alertEventTypes: EventType[] = ['alert.fired', 'alert.cleared'];

export const budgetEventTypes: EventType[] = [
  'budget.threshold',
  'budget.exhausted',
  'budget.overrun',
];

/** The types that an endpoint can subscribe to. A ping needs no subscription. */
export const eventGroups: readonly {
  readonly label: string;
  readonly types: readonly EventType[];
}[] = [
  {
    label: 'Executions',
    types: ['execution.succeeded', 'execution.failed', 'execution.canceled', 'execution.refused'],
  },
  {
    label: 'Workflow runs and batches',
    types: [
      'workflow_run.succeeded',
      'workflow_run.failed',
      'workflow_run.canceled',
      'batch.completed',
    ],
  },
  { label: 'Agents', types: ['agent.pinned', 'agent.moved', 'agent.deleted'] },
  { label: 'Alerts', types: alertEventTypes },
  { label: 'Budgets', types: budgetEventTypes },
  {
    label: 'Quota, providers and keys',
    types: [
      'quota.threshold',
      'quota.exhausted',
      'provider.failing',
      'provider.recovered',
      'key.revoked',
      'key.expiring',
      'endpoint.disabled',
    ],
  },
];
